"""`scan export history`: blocks as ere files, in place of tables."""

import argparse
from importlib import import_module

from scan.commands.hooks import CommandOptions, Commands
from scan.settings import Settings


def run(settings: Settings, options: argparse.Namespace) -> int | None:
    """Return the exit code, None where tables are to be written."""
    if options.tables != ["history"]:
        return None
    export = import_module("scan.extensions.backfill.history_files.history_export")
    return int(export.run(settings, options))


HOOKS = Commands(options={"export": CommandOptions(run)})
