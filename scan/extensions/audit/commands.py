"""`scan audit`."""

COMMANDS = {
    "audit": (
        "recompute all derived values and compare them; exits 1 if something differs",
        "scan.extensions.audit.audit_command",
    )
}
