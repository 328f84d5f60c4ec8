"""`scan signatures`."""

COMMANDS = {
    "signatures": (
        "manage signatures of functions and events",
        "scan.extensions.signatures.signatures_command",
    )
}
