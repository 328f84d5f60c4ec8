"""`scan gateway`."""

COMMANDS = {
    "gateway": (
        "serve several chains, each with its own service, at one address",
        "scan.extensions.gateway.gateway_command",
    )
}
