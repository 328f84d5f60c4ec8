"""The subcommand `scan key`."""

COMMANDS = {"key": ("manage API keys", "scan.extensions.key_command.key_command")}
