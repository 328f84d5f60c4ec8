"""What a request to decode has, checked: its data, topics, address and kind."""

import re
from collections.abc import Mapping

from scan import parameters
from scan.errors import InvalidParameter
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.contract_details.decoder.decoding import KINDS, MAX_BYTES, Encoded

NAMES = ("data", "topics", "address", "kind")

_DATA = re.compile(r"0[xX](?:[0-9a-fA-F]{2})*", re.ASCII)
_QUOTES_AND_SPACE = re.compile(r"[\s\"'`]+")


def encoded_of(values: Mapping[str, object]) -> Encoded:
    """Return what a request's values are, of which `topics` are a list; raises
    InvalidParameter."""
    topics = values.get("topics", [])
    if not isinstance(topics, list) or len(topics) > MAX_TOPICS:
        raise InvalidParameter(f"topics must be at most {MAX_TOPICS} topics.", field="topics")
    kind = parameters.one_of(values["kind"], "kind", KINDS) if "kind" in values else None
    return Encoded(
        _data(values.get("data", "0x") if topics else parameters.required(values, "data")),
        [parameters.hash32(topic, "topics") for topic in topics],
        parameters.optional_address(values, "address"),
        kind,
    )


def encoded_of_query(arguments: Mapping[str, str]) -> Encoded:
    """Return what a query string has, in which topics have commas between them."""
    topics = arguments.get("topics", "")
    return encoded_of({**arguments, "topics": topics.split(",") if topics else []})


def typed(values: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a form as parameters, without those that are empty: what is pasted may
    have quotes, lines and no 0x."""
    texts = {name: values.get(name, "")[: 4 * MAX_BYTES] for name in NAMES}
    data, address = (_QUOTES_AND_SPACE.sub("", texts[name]) for name in ("data", "address"))
    topics = re.findall(r"[^\s,;\"'`\[\]]+", texts["topics"])
    fields = {
        "data": f"0x{data}" if data and data[:2] not in ("0x", "0X") else data,
        "topics": ",".join(topics[: MAX_TOPICS + 1]),
        "address": address,
        "kind": texts["kind"],
    }
    return {name: text for name, text in fields.items() if text}


def _data(value: object) -> bytes:
    if isinstance(value, str) and len(value) > 2 * MAX_BYTES + 2:
        raise InvalidParameter(f"data must be at most {MAX_BYTES:,} bytes.", field="data")
    if not isinstance(value, str) or not _DATA.fullmatch(value):
        raise InvalidParameter(
            "data must be 0x followed by an even number of hex digits.", field="data"
        )
    return bytes.fromhex(value[2:])
