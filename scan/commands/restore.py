"""`scan restore`: makes a database of the embedded PostgreSQL from a file of `scan backup`."""

import argparse
from pathlib import Path

from scan.commands.backup import require_embedded, started_alone
from scan.database.embedded import restore
from scan.settings import Settings


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    command.add_argument("file", type=Path, metavar="FILE", help="what `scan backup` wrote")


def run(settings: Settings, options: argparse.Namespace) -> int:
    require_embedded(settings)
    with started_alone(settings) as postgres:
        name = restore(postgres, options.file)
    print(f"restored {name}; `scan run` with a node of this chain goes on from its newest block")
    return 0
