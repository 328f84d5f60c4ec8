"""The columns of user operations in CSV files."""

from scan.extensions.exports.csv_cells import (
    COIN,
    TIME,
    YES_NO,
    Column,
    coins_field,
    field,
    wei_field,
)
from scan.extensions.exports.csv_format import token_id

COLUMNS = {
    "userOperations": (
        *TIME,
        field("transaction", "transactionHash"),
        field("log_index", "logIndex"),
        field("hash"),
        field("entry_point", "entryPoint"),
        *(field("sender"), field("paymaster"), field("bundler")),
        Column("nonce", lambda record, _: token_id(record["nonce"])),
        Column("success", lambda record, _: YES_NO[record["success"]]),
        coins_field("fee", "fee"),
        COIN,
        wei_field("fee_wei", "fee"),
        field("gas_used", "gasUsed"),
        field("factory"),
    ),
}  # fmt: skip
