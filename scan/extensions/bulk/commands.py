"""`scan backfill`."""

COMMANDS = {
    "backfill": (
        "index a chain in bulk",
        "scan.extensions.bulk.chain_command",
    )
}
