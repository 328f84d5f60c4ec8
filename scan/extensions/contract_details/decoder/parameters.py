"""What a request to decode or to encode has, checked: its data, topics, address and kind; and the
calldata of a function, by its typed signature or by the verified ABI of an address.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan import json_bodies, parameters
from scan.contracts import abi_json, read_calls
from scan.contracts.abi import AbiError, AbiType, parse_signature
from scan.errors import InvalidParameter
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.contract_details import contract_functions
from scan.extensions.contract_details.decoder.decoding import KINDS, MAX_BYTES, Encoded
from scan.extensions.contract_details.decoder.typed_data import FIELD
from scan.queries.reader import Reader

NAMES = ("data", "topics", "address", "kind", "from", "value", FIELD)

_WEI = AbiType("uint", "uint256", 256)
_DATA = re.compile(r"0[xX](?:[0-9a-fA-F]{2})*", re.ASCII)
_QUOTES_AND_SPACE = re.compile(r"[\s\"'`]+")


def encoded_of(values: Mapping[str, object]) -> Encoded:
    """Return what a request's values are, of which `topics` are a list; raises
    InvalidParameter."""
    sender = parameters.optional_address(values, "from")
    if FIELD in values:
        others = [name for name in NAMES if name in values and name not in (FIELD, "from")]
        if others:
            message = f"{others[0]} is not for {FIELD}, which has all but from."
            raise InvalidParameter(message, field=others[0])
        if not isinstance(values[FIELD], dict):
            raise InvalidParameter(f"{FIELD} must be an object.", field=FIELD)
        return Encoded(b"", sender=sender, typed_data=values[FIELD])
    topics = values.get("topics", [])
    if not isinstance(topics, list) or len(topics) > MAX_TOPICS:
        raise InvalidParameter(f"topics must be at most {MAX_TOPICS} topics.", field="topics")
    kind = parameters.one_of(values["kind"], "kind", KINDS) if "kind" in values else None
    return Encoded(
        _data(values.get("data", "0x") if topics else parameters.required(values, "data")),
        [parameters.hash32(topic, "topics") for topic in topics],
        parameters.optional_address(values, "address"),
        kind,
        sender,
        _wei(values["value"]) if "value" in values else None,
    )


def encoded_of_query(arguments: Mapping[str, str]) -> Encoded:
    """Return what a query string has, in which topics have commas between them."""
    values: dict[str, object] = {**arguments}
    if "topics" in arguments:
        values["topics"] = arguments["topics"].split(",") if arguments["topics"] else []
    if FIELD in arguments:
        values[FIELD] = json_bodies.json_object(arguments[FIELD].encode("utf-8", "replace"))
    return encoded_of(values)


def typed(values: Mapping[str, str]) -> dict[str, str]:
    """Return the fields of a form as parameters, without those that are empty: what is pasted may
    have quotes, lines and no 0x, and data that begins as an object is typed data."""
    texts = {name: values.get(name, "")[: 4 * MAX_BYTES] for name in NAMES}
    message = (texts[FIELD] or texts["data"]).strip()
    if message.startswith("{"):
        sender = {"from": texts["from"].strip()} if texts["from"].strip() else {}
        return {FIELD: message, **sender}
    data, *others = (
        _QUOTES_AND_SPACE.sub("", texts[name]) for name in ("data", "address", "from", "value")
    )
    topics = re.findall(r"[^\s,;\"'`\[\]]+", texts["topics"])
    fields = {
        "data": f"0x{data}" if data and data[:2] not in ("0x", "0X") else data,
        "topics": ",".join(topics[: MAX_TOPICS + 1]),
        "kind": texts["kind"],
        **dict(zip(("address", "from", "value"), others, strict=True)),
    }
    return {name: text for name, text in fields.items() if text}


def _wei(value: object) -> int:
    try:
        return int(abi_json.coerce(_WEI, value, "value"))
    except AbiError as error:
        raise InvalidParameter(f"{error}.", field="value") from None


def _data(value: object) -> bytes:
    if isinstance(value, str) and len(value) > 2 * MAX_BYTES + 2:
        raise InvalidParameter(f"data must be at most {MAX_BYTES:,} bytes.", field="data")
    if not isinstance(value, str) or not _DATA.fullmatch(value):
        message = "data must be 0x followed by an even number of hex digits."
        raise InvalidParameter(message, field="data")
    return bytes.fromhex(value[2:])


FUNCTION_FIELD = "functionName"


class EncodedCall(NamedTuple):
    """A call; `address` is None where it is of no certain contract."""

    prepared: read_calls.PreparedCall
    address: bytes | None

    def record(self) -> dict[str, Any]:
        return contract_functions.recorded("encoded_call", self)


def entry_of(signature: str) -> dict[str, Any]:
    """Return a typed signature as an ABI's entry; raises InvalidParameter."""
    try:
        return {"type": "function", **parse_signature(signature)}
    except AbiError as error:
        message = f"The function is not a signature: {error}."
        raise InvalidParameter(message, field=FUNCTION_FIELD) from None


def encode(
    reader: Reader, function: str, arguments: Sequence[object], address: bytes | None = None
) -> EncodedCall:
    """Encode a call of `function`: a signature, or of an address also the name of a function.

    Raises InvalidParameter, NotFound for an address without a verified source, Unavailable.
    """
    if address is not None:
        encoded = contract_functions.encode(reader, address, function, arguments)
        return EncodedCall(encoded.prepared, address)
    entry = entry_of(function)
    try:
        prepared = read_calls.prepare([entry], entry["name"], arguments, read_only=False)
    except abi_json.NoSuchFunction as error:
        raise InvalidParameter(f"{error}.", field=FUNCTION_FIELD) from None
    except AbiError as error:
        raise InvalidParameter(f"{str(error)[:2000]}.", field="args") from None
    return EncodedCall(prepared, None)
