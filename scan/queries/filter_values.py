"""The filters of each entity, as sql/lists.toml declares them, and how their values are read.

A new filter is an entry there; of a new kind it is a parser here and a field in [filters] of
scan/api/openapi/shared.toml, too.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial
from itertools import chain
from typing import Any

from scan import parameters
from scan.cached_values import LazyMapping, LazySequence
from scan.contracts import abi
from scan.database.lists import Filter, all_entities, of_kind, served_entities

TOKEN_TYPES = ("BEP20", "BEP721", "BEP1155", "BEP6909")
_STANDARD = re.compile(r"(?:BEP|ERC)-?([0-9]+)\Z", re.IGNORECASE | re.ASCII)
WITH_AMOUNTS = TOKEN_TYPES[2:]  # of ids
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


def token_type(value: Any, name: str) -> str:
    """Return a token's type, also given as its standard: ERC-20, ERC20 and erc20 are BEP20."""
    standard = _STANDARD.match(value) if isinstance(value, str) else None
    return parameters.one_of(f"BEP{standard[1]}" if standard else value, name, TOKEN_TYPES)


# Parsers of filters by kind: each takes a value, from a query string or JSON, and the filter's key.
PARSERS: Mapping[str, Callable[[Any, str], Value]] = {
    "address": parameters.address,
    "dex": partial(parameters.text, most=MAX_DEX_NAME),
    "event": partial(parameters.text, most=abi.MAX_LENGTH),  # which the page of logs reads
    "flag": parameters.flag,
    "hash": parameters.hash32,
    "method": partial(parameters.text, most=abi.MAX_LENGTH),  # which method_names.selectors() reads
    "nonce": partial(parameters.unsigned, most=parameters.BIGINT_MAX),
    "pool": parameters.pool,
    "pubkey": parameters.pubkey,
    "token_type": token_type,
    "topic": parameters.hash32,
    "transaction_type": partial(parameters.unsigned, most=parameters.MAX_TYPE),
}
PARSER_OF_KEY: Mapping[str, Callable[[Any, str], Value]] = LazyMapping(
    lambda: {
        filter_.key: partial(_choice, filter_.choices)
        if filter_.choices
        else of_kind(filter_.kind, PARSERS, "PARSERS of scan/queries/filter_values.py")
        for filter_ in chain.from_iterable(FILTERS.values())
    }
)
