"""The list of blobs, and their number in a block."""

from scan.api.openapi.filtered_lists import list_of
from scan.api.openapi.schemas import (
    Json,
    address,
    hash32,
    moment,
    nullable,
    number,
    page_of,
    record,
)

PATHS: Json = {"/blobs": list_of("listBlobs", "Blobs of transactions", "BlobPage", "blobs")}
ADDED = {
    "BlockDetail": {
        "blobCount": number("Blobs of its transactions; absent if there are none.", 6),
    }
}
SCHEMAS: Json = {
    "BlobPage": page_of("blobs", "Blob", "Blobs.", "QueryTotal"),
    "Blob": record(
        "A blob that a transaction carried (EIP-4844).",
        {
            "versionedHash": hash32("Its versioned hash."),
            "transactionHash": hash32("The transaction."),
            "blockNumber": number("The block.", 17),
            "transactionIndex": number("The transaction's place in the block.", 0),
            "blobIndex": number("Its place in the transaction.", 0),
            "timestamp": moment("The block's time."),
            "fromAddress": address("The transaction's sender."),
            "toAddress": nullable(address("The transaction's recipient.")),
        },
    ),
}
