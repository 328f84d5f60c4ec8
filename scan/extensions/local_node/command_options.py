"""The option of `scan run` that starts anvil."""

import argparse
from importlib import import_module

from scan.commands.hooks import Arguments, CommandOptions, Commands
from scan.settings import Settings


def add_anvil(command: Arguments) -> None:
    text = "start anvil and index its chain; OPTIONS are anvil's, as in --anvil='--fork-url URL'"
    command.add_argument("--anvil", metavar="OPTIONS", nargs="?", const="", help=text)


def run_anvil(settings: Settings, options: argparse.Namespace) -> int | None:
    """Return the exit code, None where anvil is not to be started."""
    if options.anvil is None:
        return None
    # It imports the whole indexer, which other commands do without.
    anvil_process = import_module("scan.extensions.local_node.anvil_process")
    return int(anvil_process.run(settings, options.anvil))


HOOKS = Commands(options={"run": CommandOptions(run_anvil, add_anvil)})
