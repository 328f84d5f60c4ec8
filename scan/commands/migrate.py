"""`scan migrate`: updates the database schema."""

import argparse

from scan.commands.startup import with_running_database
from scan.database import migrations
from scan.settings import Settings


def run(settings: Settings, _options: argparse.Namespace) -> int:
    applied = migrations.run(with_running_database(settings))
    print("\n".join(f"applied {name}" for name in applied) or "the schema is current")
    return 0
