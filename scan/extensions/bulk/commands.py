"""`scan backfill`."""

COMMANDS = {
    "backfill": (
        "index a chain in bulk, or fill columns that an upgrade added",
        "scan.extensions.bulk.backfill_command",
    )
}
