"""The subcommand `scan solc`."""

COMMANDS = {
    "solc": (
        "manage the Solidity compilers that verification uses",
        "scan.extensions.compiler_downloads.solc_command",
    ),
}
