"""The columns of authorizations in CSV files."""

from scan.extensions.exports.csv_cells import TIME, Column, field
from scan.extensions.exports.csv_format import token_id

COLUMNS = {
    "authorizations": (
        *TIME,
        field("transaction", "transactionHash"),
        field("authorization_index", "authorizationIndex"),
        *(field("authority"), field("delegate")),
        Column("chain_id", lambda record, _: token_id(record["chainId"])),
        Column("nonce", lambda record, _: token_id(record["nonce"])),
        *(field("valid"), field("invalid_reason", "invalidReason")),
        field("until_block", "untilBlock"),
    ),
}
