"""One transaction with its input, method and logs."""

from scan.api.openapi.records import CONFIRMATIONS
from scan.api.openapi.schemas import (
    TOKEN_EXAMPLE,
    Json,
    address,
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
from scan.contracts.transaction_details import MAX_CONTRACTS
from scan.ethereum.call_failures import MAX_DATA
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


LOG: Json = {
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
    "AdjacentTransactions": record(
        "What the sender of a transaction sent before and after it.",
        {
            "transactionHash": hash32("The transaction."),
            "fromAddress": address("Its sender."),
            "previous": nullable(hash32("The one before; null if it is the first that is kept.")),
            "next": nullable(hash32("The one after; null if it is the last.")),
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
    "TransactionLog": record("A log.", LOG),
    "TransactionDetail": extended(
        "Transaction",
        "A transaction with decoded input and logs from the node. The ABIs of the first"
        f" {MAX_CONTRACTS} contracts are used.",
        {
            "feeParts": ref("FeeParts"),
            "redemptions": array(hash32("A transaction."), "Of its ticket."),
            "confirmations": CONFIRMATIONS,
            "incomplete": ref("Incomplete"),
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
        },
        optional=(
            "incomplete",
            "redemptions",
        ),
    ),
}
