"""One transaction with its input, method and logs."""

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
    record,
    ref,
    text,
)
from scan.contracts.transaction_details import MAX_CONTRACTS
from scan.ethereum.transaction_reader import MAX_LOGS

SOURCES = ("verified", "standard", "imported")
_TOPIC = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"

_ARGUMENT = record(
    "An argument.",
    {
        "name": text("Its name; empty where the ABI has none, or none is known.", "to"),
        "type": text("Its type; of a tuple the types in brackets.", "address"),
        "value": {
            "description": "As contract calls return it: integers as decimal strings, bytes as hex,"
            " arrays, tuples as objects where all members have names, else as arrays.",
            "examples": [TOKEN_EXAMPLE],
        },
        "hashed": flag(
            "Present and true where the value is the hash that stands in a topic for a string,"
            " bytes, an array or a tuple."
        ),
    },
    optional=("hashed",),
)


def or_null(name: str, description: str) -> Json:
    return {"anyOf": [ref(name), {"type": "null"}], "description": description}


DETAIL_SCHEMAS: Json = {
    "DecodedArgument": _ARGUMENT,
    "Decoded": record(
        "A call of a function, or an event.",
        {
            "name": text("Its name.", "transfer"),
            "signature": text(
                "Its name and types, whose hash identifies it.", "transfer(address,uint256)"
            ),
            "arguments": array(ref("DecodedArgument"), "Its arguments, in order."),
            "source": one_of(
                "Whose ABI it is: the contract's (or that of the implementation behind a proxy) by"
                " verification, a standard's, or a signature that operators imported.",
                SOURCES,
            ),
        },
    ),
    "TransactionLog": record(
        "A log.",
        {
            "address": address("The contract that emitted it.", TOKEN_EXAMPLE),
            "topics": array(hash32("A topic.", _TOPIC), "Its topics.", maxItems=4),
            "data": hex_bytes("Its data."),
            "logIndex": number("Its index in the block.", 3),
            "event": or_null("Decoded", "Its event; null where no ABI fits."),
        },
    ),
    "TransactionDetail": extended(
        "Transaction",
        "A transaction with what the node has of it beside the index, decoded. Of its contracts the"
        f" first {MAX_CONTRACTS} are decoded by their own ABIs.",
        {
            "input": nullable(hex_bytes("Its calldata, or the code that creates a contract.")),
            "method": or_null("Decoded", "The function it called; null where no ABI fits."),
            "logs": nullable(array(ref("TransactionLog"), "Its logs, in order.")),
            "unavailable": nullable(
                text(
                    "Why input, method and logs are null, as where the node does not answer now; or"
                    f" logs alone, as where there are more than {MAX_LOGS:,}; or some methods and"
                    " events, where decoding all of them would take too long. Else null.",
                    "The node does not answer now; try again shortly.",
                )
            ),
            "logCount": nullable(number("How many logs it has; null where that is not known.", 1)),
        },
    ),
}
