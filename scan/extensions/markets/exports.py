"""The columns of pools in CSV files."""

from scan.extensions.exports.csv_cells import field, text_field

COLUMNS = {
    "pools": (
        field("pool", "address"),
        text_field("dex"),
        field("token0"),
        text_field("symbol0", "token0Symbol"),
        field("token1"),
        text_field("symbol1", "token1Symbol"),
        field("trades", "tradeCount"),
        field("last_trade", "lastTradeHash"),
        field("last_trade_utc", "lastTradeAt"),
    ),
}
