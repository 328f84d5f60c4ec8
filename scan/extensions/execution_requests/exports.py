"""The columns of requests to the consensus layer in CSV files."""

from scan.extensions.exports.csv_cells import COIN, TIME, coins_field, field, wei_field

COLUMNS = {
    "requests": (
        *TIME,
        field("type"),
        coins_field("amount", "amount"),
        COIN,
        wei_field("amount_wei", "amount"),
        *(field("pubkey"), field("address"), field("target_pubkey", "targetPubkey")),
        field("withdrawal_credentials", "withdrawalCredentials"),
        *(field("signature"), field("deposit_index", "depositIndex")),
        *(field("transaction", "transactionHash"), field("log_index", "logIndex")),
    ),
}
