"""`scan sql-role`."""

COMMANDS = {
    "sql-role": (
        "create a role that reads the chain by SQL",
        "scan.extensions.sql_access.sql_role_command",
    )
}
