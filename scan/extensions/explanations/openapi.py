"""Why a transaction failed, what it did in a sentence, its trace and its changes of the state."""

from scan.api.openapi.schemas import (
    TOKEN_EXAMPLE,
    TRANSACTION,
    Json,
    address,
    amount,
    array,
    extended,
    flag,
    hash32,
    hex_bytes,
    nullable,
    number,
    one_of,
    operation,
    or_null,
    record,
    ref,
    text,
)
from scan.api.openapi.transaction_details import LOG
from scan.ethereum.trace_reader import MAX_FRAMES
from scan.extensions.explanations.state_changes import MAX_ACCOUNTS, MAX_SLOTS
from scan.extensions.explanations.summary_parts import PART_TYPES

PATHS: Json = {
    "/transactions/{transaction_hash}/trace": operation(
        "get", "getTransactionTrace", "A transaction's calls, from the node's trace",
        ref("TransactionTrace"), parameters=(TRANSACTION,), errors=(404, 422, 502),
    ),
    "/transactions/{transaction_hash}/state-changes": operation(
        "get", "getTransactionStateChanges", "What a transaction changed, from the node's trace",
        ref("StateChanges"), parameters=(TRANSACTION,), errors=(404, 422, 502),
    ),
}  # fmt: skip

_PLACE = {
    "traceAddress": array(
        number("A position among the calls of a call.", 0),
        "Its place; empty for the transaction's own call.",
    ),
    "depth": number("How many calls are around it.", 1),
    "type": text("Its type.", "CALL"),
}
_REVERTING = record(
    "The call that failed by itself. Calls around it passed that on.",
    {
        "address": nullable(address("Whose code it is; null of a creation.")),
        **_PLACE,
        "methodId": ref("MethodId"),
        "function": nullable(text("The function.", "withdraw(uint256)")),
    },
)

_OF_TRANSACTION = {
    "transactionHash": hash32("The transaction."),
    "blockNumber": number("Its block.", 17),
    "blockHash": hash32("The block's hash."),
}
_CODE = or_null(
    record("Code.", {"size": number("Bytes.", 23), "hash": hash32("Its Keccak-256.")}),
    "Null: none.",
)

REQUIRED = {
    "TransactionDetail": {
        "error": or_null(ref("TransactionError"), "Why it failed; null if it succeeded."),
        "summary": ref("TransactionSummary"),
    }
}
SCHEMAS: Json = {
    "TransactionError": extended(
        "CallError",
        "Why a transaction failed, from the node's trace; where it has none, from the same call on"
        " the state of the block before.",
        {
            "reverting": or_null(_REVERTING, "Null if it is not known."),
            "approximate": flag(
                "Whether it is from a call on the state of the block before: transactions of the"
                " same block may have changed what it reads."
            ),
        },
    ),
    "TransactionTrace": record(
        f"The calls in a transaction, in their order: the first {MAX_FRAMES:,}.",
        {
            **_OF_TRANSACTION,
            "frames": array(ref("TraceFrame"), "Its calls; the first is the transaction's own."),
            "frameCount": number("How many there are.", 3),
            "truncated": flag("Whether calls, data or logs are left out."),
        },
    ),
    "TraceFrame": record(
        "A call.",
        {
            **_PLACE,
            "fromAddress": address("Who called."),
            "toAddress": nullable(address("Whose code ran; null of a failed creation.")),
            "value": amount("In wei."),
            "gas": nullable(amount("What it could use, as the node says.")),
            "gasUsed": nullable(amount("What it used, as the node says.")),
            "input": hex_bytes("Its input; four bytes of it where there is too much."),
            "inputSize": number("The size of all of it.", 68),
            "output": hex_bytes("What it returned, likewise."),
            "outputSize": number("The size of all of it.", 32),
            "function": or_null(ref("Decoded"), "The called function; null if unknown."),
            "result": nullable(array(ref("DecodedArgument"), "What the function returned.")),
            "reverted": flag("Whether it failed, or a call around it."),
            "error": or_null(ref("CallError"), "Why it failed; null if it did not."),
            "logs": nullable(
                array(ref("CallLog"), "Its logs; null if the node gives none of the transaction.")
            ),
        },
    ),
    "CallLog": record(
        "A log.", {name: schema for name, schema in LOG.items() if name != "logIndex"}
    ),
    "StateChanges": record(
        f"What a transaction changed: the first {MAX_ACCOUNTS} accounts by address, the first"
        f" {MAX_SLOTS:,} slots.",
        {
            **_OF_TRANSACTION,
            "accounts": array(ref("AccountChange"), "Accounts, by address."),
            "accountCount": number("How many accounts it changed.", 3),
            "slotCount": number("How many slots of the storage it changed.", 2),
            "truncated": flag("Whether some of them are left out."),
        },
    ),
    "AmountChange": record("A number.", {"before": amount("Before."), "after": amount("After.")}),
    "AccountChange": record(
        "What changed in an account; null for what did not.",
        {
            "address": address("Its address."),
            "balance": or_null(ref("AmountChange"), "In wei."),
            "nonce": or_null(ref("AmountChange"), "Its nonce."),
            "code": or_null(
                record("", {"before": _CODE, "after": _CODE}),
                "Its code; null before or after where it has none.",
            ),
            "storage": array(
                record("A slot.", {n: hash32("32 bytes.") for n in ("slot", "before", "after")}),
                "Slots by their place.",
            ),
        },
    ),
    "SummaryPart": record(
        "A piece of the sentence.",
        {
            "text": text("Its text.", "1,000 BET"),
            "type": one_of("Absent for plain text.", PART_TYPES),
            "address": address("What it names.", TOKEN_EXAMPLE),
            "tokenId": amount("An item's id."),
            "value": amount("The exact amount."),
            "verified": flag("Whether the token's contract is verified."),
            "largerNamesake": address("A token with the same symbol and more holders, if any."),
        },
        optional=("type", "address", "tokenId", "value", "verified", "largerNamesake"),
    ),
    "TransactionSummary": record(
        "What it did. Tokens name themselves: tell them apart by address.",
        {
            "text": text("The whole sentence.", "Swapped 1,000 BET for 0.99 ALF on uniswap-v2"),
            "action": text("What it did, in one word.", "swap"),
            "parts": array(ref("SummaryPart"), "The sentence in pieces."),
        },
    ),
}
