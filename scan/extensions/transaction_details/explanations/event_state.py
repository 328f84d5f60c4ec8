"""Whether a contract's state changed as its event says, since a contract can emit any event."""

from collections.abc import Mapping, Sequence
from typing import Any

from scan.errors import Unavailable, UpstreamFailed
from scan.ethereum.client import Call
from scan.ethereum.request_node import NodeSession
from scan.ethereum.token_metadata import word
from scan.extensions.transaction_details.explanations.summary_events import topic_of
from scan.hex import BadHex, data, to_hex

TIMEOUT_S = 0.5
CALL_GAS = 1_000_000
MAX_BYTES = 64 * 1024  # of all results


def has_changed(
    node: NodeSession,
    state: Mapping[str, Any],
    contract: bytes,
    words: Sequence[bytes],
    block_number: int,
) -> bool | None:
    """Return whether the contract returns the value that a form's `state` expects after the block,
    and did not before it; None where the node does not answer now.

    Nodes have the state before and after a block only, so the result may be False where one block
    changes it twice. It is False, too, where the node does not keep the state.
    """
    expected = state.get("value", None)
    if expected is None:
        expected = int.from_bytes(words[state["word"]])
    calls = [
        Call(method, (*parameters, hex(number)))
        for number in (block_number, block_number - 1)
        for method, parameters in _reads(state, to_hex(contract), words)
    ]
    try:
        results = [*map(_number, node.within(TIMEOUT_S).results(calls, MAX_BYTES))]
    except (UpstreamFailed, Unavailable):
        return None
    after, before = results[: len(results) // 2], results[len(results) // 2 :]
    return any(
        new == expected and old is not None and old != expected
        for new, old in zip(after, before, strict=True)
    )


def _reads(
    state: Mapping[str, Any], contract: str, words: Sequence[bytes]
) -> list[tuple[str, tuple[object, ...]]]:
    """Return the JSON-RPC methods that read the state, with their parameters except the block."""
    arguments = b"".join(words[index] for index in state["arguments"])
    calldata = to_hex(topic_of(state["call"])[:4] + arguments)
    call = {"to": contract, "data": calldata, "gas": hex(CALL_GAS)}
    slots: list[tuple[str, tuple[object, ...]]] = []
    if "slot" in state:
        slots = [("eth_getStorageAt", (contract, state["slot"]))]
    return [*slots, ("eth_call", (call,))]


def _number(result: object) -> int | None:
    """Return the word in a result as a number; None for an error, or any other result."""
    try:
        return word(data(result))
    except BadHex:
        return None
