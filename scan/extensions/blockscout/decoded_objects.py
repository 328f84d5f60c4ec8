"""Decoded calls, errors and events as Blockscout shows them."""

from collections.abc import Mapping
from typing import Any

from scan.contracts.abi_decoding import Argument, Decoded
from scan.extensions.blockscout.objects import Object


def call_object(decoded: Decoded | None, selector: bytes) -> Object | None:
    if decoded is None:
        return None
    return {
        "method_id": selector.hex(),
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
    return {**as_call, "parameters": arguments}


def _declared(argument: Argument) -> str:
    indexed = " indexed" if argument.indexed else ""
    return f"{argument.type}{indexed} {argument.name}".strip()


def _parameter(argument: Argument) -> Mapping[str, Any]:
    return {"name": argument.name, "type": argument.type, "value": shown(argument.value)}


def shown(value: Any) -> Any:
    """Return a value as text, or as arrays of texts, as Blockscout does: tuples are arrays, too."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        return [shown(part) for part in value.values()]
    if isinstance(value, list | tuple):
        return [shown(part) for part in value]
    return str(value)
