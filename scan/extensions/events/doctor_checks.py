"""What `scan doctor` says of followed contracts."""

from collections.abc import Iterator

from scan.database.connection import Database
from scan.extensions.events import queries
from scan.extensions.operations.doctor.hooks import Checks, Finding

AGAIN = "correct what it names: it is tried again"


def check(database: Database) -> Iterator[Finding]:
    [(role, may_make)] = database.rows("events/schema_get_right")
    if not may_make:
        text = f"the role {role} may not make views in the schema events"
        advice = (
            "let the owner of the database run: CREATE SCHEMA IF NOT EXISTS events;"
            f" GRANT USAGE, CREATE ON SCHEMA events TO {role}"
        )
        yield Finding("error", text, advice)
    for contract in queries.contracts(database):
        if contract.views_problem is not None:
            text = f"views of {contract.name} cannot be made: {contract.views_problem}"
            yield Finding("error", text, AGAIN)
        if contract.problem is not None:
            yield Finding("warning", f"{contract.name}: {contract.problem}", AGAIN)


HOOKS = Checks(of_database=check)
