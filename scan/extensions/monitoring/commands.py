"""`scan status`."""

COMMANDS = {
    "status": (
        "report whether a running service is ready, and how far it is behind the node",
        "scan.extensions.monitoring.status_command",
    )
}
