"""One transaction with its input, method and logs."""

from scan.api.openapi.records import CONFIRMATIONS
from scan.api.openapi.schemas import (
    TOKEN_EXAMPLE,
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
    or_null,
    record,
    ref,
    text,
)
from scan.contracts.revert_reasons import REASON_KINDS
from scan.contracts.summary_parts import PART_TYPES
from scan.contracts.transaction_details import MAX_CONTRACTS
from scan.ethereum.call_failures import MAX_DATA
from scan.ethereum.state_changes import MAX_ACCOUNTS, MAX_SLOTS
from scan.ethereum.trace_reader import MAX_FRAMES
from scan.ethereum.transaction_reader import MAX_LOGS

SOURCES = ("verified", "standard", "imported", "protocol")
_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

_ARGUMENT = record(
    "An argument.",
    {
        "name": text("Its name; empty if unknown.", "to"),
        "type": text("Its type; tuples in parentheses.", "address"),
        "value": {
            "description": "Integers as decimal strings, bytes as hex, tuples as objects if all"
            " members have names, otherwise as arrays.",
            "examples": [TOKEN_EXAMPLE],
        },
        "hashed": flag(
            "Present and true if the value is the hash of an indexed string, bytes, array or tuple."
        ),
    },
    optional=("hashed",),
)


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


_LOG: Json = {
    "address": address("The emitting contract.", TOKEN_EXAMPLE),
    "topics": array(hash32("A topic.", _TOPIC), "Its topics.", maxItems=4),
    "data": hex_bytes("Its data."),
    "logIndex": number("Its index in the block.", 3),
    "event": or_null(ref("Decoded"), "Its event; null if it cannot be decoded."),
}
SCHEMAS: Json = {
    "CallError": record(
        "Why a call failed.",
        {
            "reason": text("A sentence.", "The call reverted: no reason to go on"),
            "kind": one_of("What refused it; `unknown` where nothing says why.", REASON_KINDS),
            "name": nullable(text("The error's name: Error, Panic or a custom one.", "Error")),
            "signature": nullable(text("The error's signature.", "Error(string)")),
            "arguments": nullable(array(ref("DecodedArgument"), "The error's arguments.")),
            "source": nullable(one_of("As of Decoded.", SOURCES)),
            "data": hex_bytes(f"What the contract reverted with; at most {MAX_DATA:,} bytes."),
            "dataSize": number("The size of all of it.", 100),
        },
    ),
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
        "A log.", {name: schema for name, schema in _LOG.items() if name != "logIndex"}
    ),
    "AdjacentTransactions": record(
        "What the sender of a transaction sent before and after it.",
        {
            "transactionHash": hash32("The transaction."),
            "fromAddress": address("Its sender."),
            "previous": nullable(hash32("The one before; null if it is the first that is kept.")),
            "next": nullable(hash32("The one after; null if it is the last.")),
        },
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
    "DecodedArgument": _ARGUMENT,
    "Decoded": record(
        "A decoded call or event.",
        {
            "name": text("Its name.", "transfer"),
            "signature": text("Its signature.", "transfer(address,uint256)"),
            "arguments": array(ref("DecodedArgument"), "Its arguments, in order."),
            "source": one_of(
                "Decoded by the verified ABI of the contract or its implementation, by a standard"
                " ABI, or by a signature imported by the operator.",
                SOURCES,
            ),
        },
    ),
    "TransactionLog": record("A log.", _LOG),
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
    "TransactionDetail": extended(
        "Transaction",
        "A transaction with decoded input and logs from the node. The ABIs of the first"
        f" {MAX_CONTRACTS} contracts are used.",
        {
            "feeParts": ref("FeeParts"),
            "authorizationCount": number("How many authorizations it has, if any.", 2),
            "authorizations": array(
                ref("Authorization"),
                "The first of them, if it has any; the others by /authorizations?transaction=.",
                maxItems=25,
            ),
            "redemptions": array(hash32("A transaction."), "Of its ticket."),
            "messagesToL1": array(
                ref("MessageToL1"),
                "The first.",
                maxItems=25,
            ),
            "confirmations": CONFIRMATIONS,
            "input": nullable(hex_bytes("Its calldata, or a contract's creation code.")),
            "method": or_null(ref("Decoded"), "The called function; null if it cannot be decoded."),
            "logs": nullable(array(ref("TransactionLog"), "Its logs, in order.")),
            "unavailable": nullable(
                text(
                    "Why input, method and logs are null, such as a node that does not respond; why"
                    f" only logs are null, such as more than {MAX_LOGS:,} of them; or why some"
                    " methods and events are null, when decoding would take too long.",
                    "The node does not respond; try again shortly.",
                )
            ),
            "logCount": nullable(number("Number of logs; null if unknown.", 1)),
            "error": or_null(ref("TransactionError"), "Why it failed; null if it succeeded."),
            "summary": ref("TransactionSummary"),
        },
        optional=(
            "authorizationCount",
            "authorizations",
            "messagesToL1",
            "redemptions",
        ),
    ),
}
