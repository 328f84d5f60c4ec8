"""`scan labels`."""

COMMANDS = {
    "labels": (
        "manage labels of addresses",
        "scan.extensions.labels.labels_command",
    )
}
