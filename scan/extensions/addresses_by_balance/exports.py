"""The columns of addresses by balance in CSV files."""

from scan.extensions.exports.csv_cells import COIN, YES_NO, Column, coins_field, field, wei_field

COLUMNS = {
    "accounts": (
        field("address"),
        coins_field("balance", "balance"),
        COIN,
        wei_field("balance_wei", "balance"),
        field("balance_block", "balanceBlock"),
        field("transactions", "txCount"),
        Column("is_contract", lambda record, _: YES_NO[record["isContract"]]),
    ),
}
