"""The chain by SQL: views that stay as they are, and roles that may read them (`scan sql-role`).

Input: the core's tables. Output: the schema v1, roles with rights to read, and the end of their
sessions that run too long. Start with views.sql of its sql/schema/, then sql_role_command.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "stable views of the tables, and roles that read them (scan sql-role)",
    "operating",
    commands={"sql-role": "create a role that reads the chain by SQL"},
)
