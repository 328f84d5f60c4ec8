"""`scan doctor --record`: blocks of the node in a file, instead of the doctor's report. `scan run
--recording` runs with such a file, and `scan run` without a node with the demo chain."""

import argparse
from importlib import import_module
from pathlib import Path
from types import ModuleType

from scan.commands.hooks import Arguments, CommandOptions, Commands
from scan.extensions.demo.chain_recording import block_range, write_recording
from scan.settings import Settings


def add_arguments(command: Arguments) -> None:
    command.add_argument("--record", metavar="FILE", type=Path, help="write blocks of the node")
    command.add_argument(
        "--blocks", metavar="FIRST-LAST", type=block_range, help="of --record; default: the newest"
    )
    command.add_argument("--yes", action="store_true", help="of --record: write without asking")


def run(settings: Settings, options: argparse.Namespace) -> int | None:
    """Return the exit code, None where the doctor is to report."""
    return None if options.record is None else write_recording(settings, options)


def add_recording(command: Arguments) -> None:
    text = "index what `scan doctor --record` wrote, not the chain of RPC_URL"
    command.add_argument("--recording", metavar="FILE", type=Path, help=text)


def run_recording(settings: Settings, options: argparse.Namespace) -> int | None:
    """Return the exit code, None where no recording is to be replayed."""
    if options.recording is None:
        return None
    return int(_demo_run().run_recording(settings, options.recording))


def run_demo_chain(settings: Settings) -> int:
    return int(_demo_run().run_demo_chain(settings))


def _demo_run() -> ModuleType:
    """Return what imports the whole indexer, which other commands do without."""
    return import_module("scan.extensions.demo.demo_run")


HOOKS = Commands(
    options={
        "doctor": CommandOptions(run, add_arguments),
        "run": CommandOptions(run_recording, add_recording, run_demo_chain),
    }
)
