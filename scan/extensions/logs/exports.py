"""The columns of logs in CSV files."""

from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.exports.csv_cells import TIME, field, topic

COLUMNS = {
    "logs": (
        *TIME,
        field("transaction", "transactionHash"),
        field("transaction_index", "transactionIndex"),
        field("log_index", "logIndex"),
        field("address"),
        *(topic(n) for n in range(MAX_TOPICS)),
        field("data"),
    ),
}
