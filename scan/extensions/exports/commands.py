"""`scan export`."""

COMMANDS = {
    "export": (
        "write whole tables as Parquet or CSV files",
        "scan.extensions.exports.export_command",
    )
}
