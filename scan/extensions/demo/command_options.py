"""`scan doctor --record`: blocks of the node in a file, instead of the doctor's report."""

import argparse
from pathlib import Path

from scan.extensions.demo.chain_recording import block_range, write_recording
from scan.hooks import CommandOptions, Commands
from scan.settings import Settings


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.add_argument("--record", metavar="FILE", type=Path, help="write blocks of the node")
    command.add_argument(
        "--blocks", metavar="FIRST-LAST", type=block_range, help="of --record; default: the newest"
    )
    command.add_argument("--yes", action="store_true", help="of --record: write without asking")


def run(settings: Settings, options: argparse.Namespace) -> int | None:
    """Return the exit code, None where the doctor is to report."""
    return None if options.record is None else write_recording(settings, options)


HOOKS = Commands(options={"doctor": CommandOptions(run, add_arguments)})
