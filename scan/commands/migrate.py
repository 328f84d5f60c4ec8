"""`scan migrate`: updates the database schema, or says what an update would do."""

import argparse

from scan.commands.startup import with_running_database
from scan.database import migrations
from scan.database.connection import Database
from scan.settings import Settings

CURRENT = "the schema is current"
NEWER = "the schema is of a newer version; this version would not change it"
OFFLINE = "  locks whole tables while it runs: stop the service first"


def run(settings: Settings, options: argparse.Namespace) -> int:
    settings = with_running_database(settings)
    if options.plan:
        return _print_plan(settings)
    applied = migrations.run(settings)
    print("\n".join(f"applied {name}" for name in applied) or CURRENT)
    return 0


def _print_plan(settings: Settings) -> int:
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-schema")
    planned = migrations.plan(database)
    database.close()
    if planned is None:
        print(NEWER)
    elif not planned:
        print(CURRENT)
    for file in planned or ():
        print(f"{file.name}: {file.summary}" if file.summary else file.name)
        if file.is_offline:
            print(OFFLINE)
    return 0
