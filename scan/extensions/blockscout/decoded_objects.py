"""Decoded calls, errors and events as Blockscout shows them."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.contracts.abi_decoding import Argument, Decoded
from scan.ethereum.checksums import checksummed
from scan.extensions.blockscout.objects import Object


def call_object(decoded: Decoded | None, calldata: bytes) -> Object | None:
    if decoded is None:
        return None
    return {
        "method_id": calldata[:4].hex(),
        "method_call": f"{decoded.name}({', '.join(map(_declared, decoded.arguments))})",
        "parameters": [_parameter(argument) for argument in decoded.arguments],
    }


def event_object(decoded: Decoded | None, topic: bytes) -> Object | None:
    as_call = call_object(decoded, topic[:4])
    if as_call is None or decoded is None:
        return None
    arguments = [
        {**_parameter(argument), "indexed": argument.indexed} for argument in decoded.arguments
    ]
    return {**as_call, "parameters": arguments, "abi": _abi_of_event(decoded)}


def _abi_of_event(decoded: Decoded) -> Object | None:
    """Return an event's declaration in its ABI; None where it has tuples, of which the names of
    members are not known here."""
    arguments = decoded.arguments
    if any(argument.type.startswith("(") for argument in arguments):
        return None
    inputs = [{"name": a.name, "type": a.type, "indexed": a.indexed} for a in arguments]
    return {"type": "event", "name": decoded.name, "anonymous": False, "inputs": inputs}


def _declared(argument: Argument) -> str:
    indexed = " indexed" if argument.indexed else ""
    return f"{argument.type}{indexed} {argument.name}".strip()


def _parameter(argument: Argument) -> Mapping[str, Any]:
    value = shown(argument.value, argument.type)
    return {"name": argument.name, "type": argument.type, "value": value}


def shown(value: Any, type_: str) -> Any:
    """Return a value of an ABI type as text, or as arrays of texts, as Blockscout does: tuples are
    arrays, too. What a topic has of an array or a tuple is a hash, which is a text."""
    if isinstance(value, bool):
        return str(value).lower()
    members = [*value.values()] if isinstance(value, Mapping) else value
    if isinstance(members, list | tuple):
        types = _member_types(type_, len(members))
        return [shown(*member) for member in zip(members, types, strict=True)]
    return checksummed(value) if type_ == "address" else str(value)


def _member_types(type_: str, count: int) -> Sequence[str]:
    """Return the types of the `count` members of an array, or of a tuple: `(address,uint256)`."""
    if type_.endswith("]"):
        return [type_[: type_.rindex("[")]] * count
    types, depth = [""], 0
    for character in type_.removesuffix(")")[1:]:
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            types.append("")
        else:
            types[-1] += character
    return types
