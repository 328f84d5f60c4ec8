"""`scan migrate`: updates the database schema, or says what an update would do."""

import argparse

from scan.commands.startup import connected, with_running_database
from scan.database import migrations
from scan.settings import Settings

CURRENT = "the schema is current"
NEWER = "the schema is of a newer version; this version would not change it"


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    command.add_argument("--plan", action="store_true", help="only print what would be applied")


def run(settings: Settings, options: argparse.Namespace) -> int:
    if options.plan:
        return _print_plan(settings)
    applied = migrations.run(with_running_database(settings))
    for name in applied:
        print(f"applied {name}")
    return 0 if applied else _print_plan(settings)


def _print_plan(settings: Settings) -> int:
    with connected(settings, "scan-schema") as database:
        planned = migrations.plan(database)
    if planned is None:
        print(NEWER)
    elif not planned:
        print(CURRENT)
    for file in planned or ():
        print(f"{file.name}: {file.summary}" if file.summary else file.name)
    return 0
