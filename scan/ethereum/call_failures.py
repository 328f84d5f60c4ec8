"""Why a call failed: the kind of its failure, and what it returned. Pure.

Nodes agree on the data that a contract returns as it reverts, and on little else: each has its own
words for the failures of the EVM itself.
"""

import re
from typing import NamedTuple

MAX_DATA = 8192  # bytes kept of what a reverting call returned
MAX_WORDS = 200

REVERT = "revert"
OUT_OF_GAS = "out_of_gas"
OTHER = "other"
# In this order: "contract creation code storage out of gas" is the latter half.
_KINDS = tuple(
    (kind, re.compile(words, re.I))
    for kind, words in (
        (REVERT, r"revert"),
        (OUT_OF_GAS, r"out ?of ?gas|OOG\b|gas uint64 overflow|gas required exceeds"),
        ("invalid_opcode", r"(invalid|unknown|undefined) ?(\w*opcode|instruction)"
         r"|bad ?instruction|opcode ?not ?found|invalidfe"),
        ("invalid_jump", r"(invalid|bad) ?jump"),
        ("stack_limit", r"stack ?(under|over)flow|stack limit|out of stack"),
        ("static_call", r"write protection|static ?(call|context|state)|in(side)? ?static"),
        ("insufficient_balance", r"insufficient (balance|funds)|out ?of ?funds|lack of funds"),
        ("call_depth", r"call ?(stack )?(depth|too ?deep)|depth limit"),
        ("invalid_code", r"(code|contract) ?size|init ?code|invalid code|0xef|starting ?with ?ef"),
        ("address_collision", r"collision"),
    )
)  # fmt: skip
KINDS = (*(kind for kind, _ in _KINDS), OTHER)
_HEX = re.compile(r"0x[0-9a-fA-F]{8,}")
_SHORT = re.compile(r"0x((?:[0-9a-fA-F]{2}){1,3})")  # alone in its field: elsewhere it is a number


class CallFailure(NamedTuple):
    """The failure of a call that failed by itself, not by a call that it made.

    `data` is what the call returned, `data_size` bytes cut to MAX_DATA. `words` are the node's,
    only where the kind is OTHER. `code_addresses` are the addresses whose code ran, from this call
    outwards to the outermost: any of them may declare the custom error. All but kind, words, data
    and its size are empty where only the outermost call is known.
    """

    kind: str
    words: str = ""
    data: bytes = b""
    data_size: int = 0
    type: str = ""
    trace_address: tuple[int, ...] = ()
    selector: bytes = b""
    code_addresses: tuple[bytes, ...] = ()
    address: bytes | None = None


def kind_of(words: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(words)), OTHER)


def reverted_with(error_data: object) -> CallFailure | None:
    """Return the outermost call's failure from a JSON-RPC error's `data`; None where `data` holds
    no returned bytes."""
    returned = revert_data(error_data)
    if returned is None:
        return None
    return CallFailure(REVERT, data=returned[:MAX_DATA], data_size=len(returned))


def revert_data(error_data: object, depth: int = 0) -> bytes | None:
    """Return the bytes that the call returned from a JSON-RPC error's `data`, in which nodes nest
    them in different ways; None where there are none."""
    if isinstance(error_data, str):
        short = _SHORT.fullmatch(error_data)
        if short is not None:
            return bytes.fromhex(short[1]) if depth == 0 else None
        match = _HEX.search(error_data)
        digits = match[0][2:] if match else ""
        return bytes.fromhex(digits[: len(digits) & ~1]) if digits else None
    if isinstance(error_data, dict) and depth < 5:
        named = error_data.get("data")
        if isinstance(named, str) and _SHORT.fullmatch(named):
            return revert_data(named)
        for value in error_data.values():
            nested = revert_data(value, depth + 1)
            if nested is not None:
                return nested
    return None
