"""`scan contracts`."""

COMMANDS = {
    "contracts": (
        "take verified contracts over from other explorers, or write ours to a file",
        "scan.extensions.contract_import.contracts_command",
    )
}
