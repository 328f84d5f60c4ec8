"""`scan mcp`."""

COMMANDS = {
    "mcp": (
        "serve tools for language models over stdin and stdout",
        "scan.extensions.mcp.mcp_command",
    )
}
