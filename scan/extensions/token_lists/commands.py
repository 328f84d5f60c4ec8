"""`scan tokens`."""

COMMANDS = {
    "tokens": (
        "manage token lists and their logos",
        "scan.extensions.token_lists.tokens_command",
    )
}
