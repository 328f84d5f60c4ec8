"""The columns of items in CSV files."""

from scan.extensions.exports.csv_cells import BALANCE, TOKEN_ID, field, token_type

COLUMNS = {
    "itemBalances": (*BALANCE, TOKEN_ID),
    "items": (
        field("token", "tokenAddress"),
        TOKEN_ID,
        token_type("tokenType"),
        field("owner"),
        field("owners", "ownerCount"),
        field("transfers", "transferCount"),
    ),
}
