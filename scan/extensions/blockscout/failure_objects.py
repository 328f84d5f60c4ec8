"""Why transactions failed, in the words that nodes have for it."""

import time
from collections.abc import Sequence
from typing import Any

from scan.contracts.revert_reasons import Reason
from scan.ethereum.call_failures import OTHER, REVERT, CallFailure
from scan.extensions.blockscout.decoded_objects import call_object
from scan.extensions.blockscout.lists import Record
from scan.extensions.blockscout.objects import Object
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.extensions.transaction_details.explanations.transaction_failures import TransactionFailure
from scan.hex import to_hex
from scan.http.requests import reader

# Geth's words for the kinds of failures; the index keeps a node's own only for others.
WORDS = {
    REVERT: "execution reverted",
    "out_of_gas": "out of gas",
    "invalid_opcode": "invalid opcode",
    "invalid_jump": "invalid jump destination",
    "stack_limit": "stack limit reached",
    "static_call": "write protection",
    "insufficient_balance": "insufficient balance for transfer",
    "call_depth": "max call depth exceeded",
    "invalid_code": "invalid code",
    "address_collision": "contract address collision",
}
UNKNOWN = "awaiting_internal_transactions"  # as Blockscout says before it knows
MOST_READ = 10  # reasons that a list reads; those of others are shown once they are kept
READ_S = 2.0  # after which it reads no more


def node_words(failure: CallFailure) -> str:
    return failure.words if failure.kind == OTHER else WORDS[failure.kind]


def failures(records: Sequence[Record]) -> dict[str, Object]:
    """Return `result` and `revert_reason` of a list's failed transactions, by hash."""
    failed = [record for record in records if not record["status"]]
    shown = {record["hash"]: failure_fields(None) for record in failed}
    known, ends_at = 0, time.monotonic() + READ_S
    for record in failed[:MOST_READ]:
        failure = explanations.failure(reader(), record)
        shown[record["hash"]] = failure_fields(failure)
        if failure is None or failure.is_passing or time.monotonic() > ends_at:
            break  # the node is away or slow, and would be for the others
        known += 1
    if known < len(failed):
        reader().do_not_cache()
    return shown


def failure_fields(failure: TransactionFailure | None, *, is_decoded: bool = False) -> Object:
    """Return the fields of a failed transaction; `is_decoded`: with the decoded error instead of
    its data."""
    if failure is None or failure.failure is None:
        return {"result": UNKNOWN, "revert_reason": None}
    cause = failure.failure
    if cause.kind != REVERT and not cause.trace_address:
        return {"result": node_words(cause), "revert_reason": None}
    # A call that passes on the failure of one that it made reverts with the same data.
    decoded = _decoded(failure.reason) if is_decoded else None
    raw = {"raw": to_hex(cause.data) if cause.data else None}
    return {"result": WORDS[REVERT], "revert_reason": decoded or raw}


def _decoded(reason: Reason) -> dict[str, Any] | None:
    return call_object(reason.decoded, reason.data[:4])
