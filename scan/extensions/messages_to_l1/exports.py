"""The columns of messages to L1 in CSV files."""

from scan.extensions.exports.csv_cells import COIN, TIME, Column, coins_field, field, wei_field
from scan.extensions.exports.csv_format import token_id

COLUMNS = {
    "messages": (
        *TIME,
        field("transaction", "transactionHash"),
        field("log_index", "logIndex"),
        field("hash"),
        Column("nonce", lambda record, _: token_id(record["nonce"])),
        *(field("sender"), field("target")),
        coins_field("amount", "value"),
        COIN,
        wei_field("value_wei", "value"),
        *(field("gas_limit", "gasLimit"), field("data"), field("state")),
    ),
}
