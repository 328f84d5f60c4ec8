"""The filters of entities, as sql/lists.toml declares them, and how their values are read.

A new filter is an entry there; of a new kind it is a parser here and a field in [filters] of
scan/api/openapi/shared.toml, too.
"""

from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any

from scan import parameters
from scan.cached_values import LazyMapping, LazySequence
from scan.contracts.signature_text import MAX_LENGTH
from scan.contracts.visible_text import text_hash, text_start
from scan.database.lists import Filter, all_entities, of_kind, served_entities
from scan.errors import InvalidParameter
from scan.ethereum.text_inputs import MAX_TEXT_BYTES

TOKEN_TYPES = ("BEP20", "BEP721", "BEP1155")
MAX_DEX_NAME = 100

Value = bytes | str | bool | int | list[bytes]

_ENTITIES = LazySequence(
    lambda: dict.fromkeys(("transactions", "blocks", "tokens", *served_entities()))
)
# The entities of /query.
QUERIED = LazySequence(
    lambda: (
        name
        for name in _ENTITIES
        if name not in served_entities() or served_entities()[name].is_queried
    )
)
# The filters of each entity, without the ranges of blocks and times, which the Window has.
FILTERS: Mapping[str, tuple[Filter, ...]] = LazyMapping(
    lambda: {
        entity: all_entities()[entity].filters if entity in all_entities() else ()
        for entity in _ENTITIES
    }
)
FILTER_KEYS: Mapping[str, tuple[str, ...]] = LazyMapping(
    lambda: {entity: tuple(f.key for f in filters) for entity, filters in FILTERS.items()}
)


def _choice(choices: Mapping[str, str], value: Any, name: str) -> Value:
    """Return what is stored for one of a filter's choices; raises InvalidParameter."""
    return bytes.fromhex(choices[parameters.one_of(value, name, choices)])


def _text_hash(value: Any, name: str) -> Value:
    """Return the hash of the text as visible_text.py has it; raises InvalidParameter."""
    text = text_start(parameters.text(value, name, most=MAX_TEXT_BYTES).encode())
    if not text:
        raise InvalidParameter(f"{name} must have a visible character.", field=name)
    return text_hash(text)


# Parsers of filters by kind: each takes a value, from a query string or JSON, and the filter's key.
PARSERS: Mapping[str, Callable[[Any, str], Value]] = {
    "address": parameters.address,
    "dex": partial(parameters.text, most=MAX_DEX_NAME),
    "event": partial(parameters.text, most=MAX_LENGTH),  # which the page of logs reads
    "flag": parameters.flag,
    "hash": parameters.hash32,
    "method": partial(parameters.text, most=MAX_LENGTH),  # which method_names.selectors() reads
    "nonce": parameters.nonce,
    "pubkey": parameters.pubkey,
    "text": _text_hash,
    "token_type": partial(parameters.one_of, allowed=TOKEN_TYPES),
    "topic": parameters.hash32,
    "transaction_type": parameters.transaction_type,
}
_PARSER_OF_KEY: Mapping[str, Callable[[Any, str], Value]] = LazyMapping(
    lambda: {
        filter_.key: partial(_choice, filter_.choices)
        if filter_.choices
        else of_kind(filter_.kind, PARSERS, "PARSERS of scan/queries/filters.py")
        for filter_ in chain.from_iterable(FILTERS.values())
    }
)


def read_values(entity: str, arguments: Mapping[str, Any]) -> dict[str, Value]:
    """Return the values of given filters, by the parameters of the entity's statements.

    Raises InvalidParameter, also where two keys stand for the same filter.
    """
    keys: dict[str, str] = {}
    for filter_ in FILTERS[entity]:
        key, param = filter_.key, filter_.param
        if key in arguments:
            if param in keys:
                reason = f"{key} and {keys[param]} are the same: give one."
                raise InvalidParameter(reason, field=key)
            keys[param] = key
    return {param: _PARSER_OF_KEY[key](arguments[key], key) for param, key in keys.items()}
