from scan.api.openapi.filtered_lists import list_of
from scan.api.openapi.schemas import Json, address, hash32, number, page_of, record

PATHS: Json = {"/pings": list_of("listPings", "Pings", "PingPage", "pings")}
ADDED = {"BlockDetail": {"pingCount": number("Of the block.", 2)}}
SCHEMAS: Json = {
    "PingPage": page_of("pings", "Ping", "Pings.", "QueryTotal"),
    "Ping": record(
        "A ping.",
        {
            "transactionHash": hash32("Its transaction."),
            "blockNumber": number("Its block.", 17),
            "pinger": address("Its sender."),
        },
    ),
}
