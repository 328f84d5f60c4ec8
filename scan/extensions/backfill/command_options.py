"""Options for files of old blocks: those of `scan backfill chain`, which reads them, and of
`scan export history`, which writes blocks as ere files in place of tables.
"""

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from scan.commands.hooks import CommandOptions, Commands
from scan.errors import ScanError, install_extra
from scan.extensions.backfill.settings import Settings as HistorySettings
from scan.settings import Settings


def run(settings: Settings, options: argparse.Namespace) -> int | None:
    """Return the exit code, None where tables are to be written."""
    if options.tables != ["history"]:
        return None
    export = import_module("scan.extensions.backfill.history_export")
    return int(export.run(settings, options))


if TYPE_CHECKING:  # which needs the packages of scan[bulk]
    from scan.extensions.backfill.history_source import ChainFiles

HISTORY = "a folder or URL with era1 or ere files of old blocks; may be repeated; SCAN_HISTORY"


def add_arguments(chain: argparse.ArgumentParser) -> None:
    chain.add_argument("--history", metavar="FOLDER|URL", action="append", help=HISTORY)
    chain.add_argument(
        "--last-hash", metavar="HASH", help="of --last-block, where the node has pruned it"
    )


def open_history(settings: Settings, options: argparse.Namespace) -> "ChainFiles | None":
    """Return the files of --history, or of SCAN_HISTORY; None without either. Raises NodeError
    where a source does not answer, and CannotBackfill."""
    sources = options.history or settings.of(HistorySettings).history
    if not sources:
        return None
    try:
        from scan.extensions.backfill.history_source import open_files
    except ImportError as error:
        raise ScanError(f"{error.name} is not installed: {install_extra('bulk')}") from None
    return open_files(settings, options, sources)


HOOKS = Commands(options={"export": CommandOptions(run)})
