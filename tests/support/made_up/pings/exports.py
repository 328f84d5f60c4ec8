from scan.extensions.exports.csv_cells import TIME, field

COLUMNS = {"pings": (TIME[-1], field("transaction", "transactionHash"), field("pinger"))}
