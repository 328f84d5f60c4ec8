"""The `scan` command: each file declares the options of its subcommands and runs them.

Input: arguments and settings. Output: an exit code: 0 success, 1 failure, 2 invalid arguments or
configuration.
Start with __init__.py (the subcommands), then startup.py (checks before a subcommand starts) and
run.py, which starts everything on one machine; processes.py has its parts.
"""

import argparse
import logging
import os
import subprocess
import sys
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from pkgutil import resolve_name

from scan import registry
from scan.commands.arguments import add_command
from scan.errors import ScanError, SettingError
from scan.observability import logs
from scan.settings import Settings, doubtful_variables

log = logging.getLogger(__name__)

EXIT_FAILED, EXIT_WRONG_CALL, EXIT_INTERRUPTED = 1, 2, 130
COMMIT = Path(__file__).parent.parent / "commit.txt"

DESCRIPTION = """\
A self-hosted block explorer API for EVM chains. It is configured by environment variables, such as
DATABASE_URL and RPC_URL: docs/settings.md. Exit codes: 0 success, 1 failure, 2 invalid arguments or
configuration."""

EXAMPLES = """\
the demo chain:                   scan run
your node, on one machine:        RPC_URL=http://localhost:8545 scan run
separate processes, production:   scan serve, scan index, scan deliver (see docs/operation.md)
health check:                     scan status --most-behind 10"""

# The function add_NAME() of a subcommand's file declares its options, the function `run` that runs
# it, and a description if the help text here is not enough.
COMMANDS = {
    "run": "run everything on one machine: database, indexer, API, webhooks",
    "serve": "run only the HTTP API",
    "index": "run only the indexer",
    "deliver": "run only webhook deliveries",
    "audit": "recompute all derived values and compare them; exits 1 if something differs",
    "rebuild": "derive tables again from stored blocks, without the node",
    "tokens": "read tokens from the node again",
    "key": "manage API keys",
    "webhooks": "list and remove webhooks",
    "migrate": "update the database schema; every start does this too",
    "backup": "write the database of `scan run` to a file, also while it runs",
    "restore": "restore a file of `scan backup` into a new SCAN_DATA_DIR",
    "psql": "open the database in psql",
    "solc": "manage the Solidity compilers that verification uses",
    "vyper": "manage the Vyper compilers that verification uses",
}
FILES = {
    **dict.fromkeys(("serve", "index", "deliver"), "processes"),
    **dict.fromkeys(("migrate", "backup", "restore", "psql"), "database_commands"),
    **dict.fromkeys(("solc", "vyper"), "compilers"),
}


def main(arguments: list[str] | None = None) -> int:
    """Run the subcommand that the arguments name, and return the exit code."""
    try:
        try:
            return _run(sys.argv[1:] if arguments is None else arguments)
        finally:
            sys.stdout.flush()
    except BrokenPipeError:  # whoever reads the output has ended, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED


def _run(arguments: list[str]) -> int:
    try:
        called = next((argument for argument in arguments if not argument.startswith("-")), "")
        for name, extension in registry.installed().items():
            if called in extension.commands and name not in registry.enabled():
                raise registry.off(f"scan {called}", name)
        options = _parser(called).parse_args(arguments)
        if options.run is None:
            options.parser.print_help()
            return EXIT_WRONG_CALL
        settings = Settings.from_environment()
        logs.configure(settings)
        for name, reason in doubtful_variables().items():
            log.warning("%s %s", name, reason)
        return int(options.run(settings, options))
    except SettingError as error:
        logs.print_lines(f"scan: {error}", file=sys.stderr)
        return EXIT_WRONG_CALL
    except ScanError as error:
        logs.print_lines(f"scan: {error.for_operators}", file=sys.stderr)
        return EXIT_FAILED


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        commit = COMMIT.read_text(encoding="utf-8")
        if commit.startswith("$"):  # git archive, a build of the wheel or of the image replace it
            # Git refuses a checkout of another user, which services run from.
            git = ["git", "-c", "safe.directory=*", "-C", str(COMMIT.parent)]
            head = [*git, "rev-parse", "--verify", "HEAD"]
            with suppress(OSError):
                commit = subprocess.run(head, capture_output=True, text=True, check=False).stdout
        of_commit = f" (commit {commit[:12]})" if commit.strip().isalnum() else ""
        logs.print_lines(f"scan {metadata.version('scan')}{of_commit}")
        parser.exit()


def _parser(called: str) -> argparse.ArgumentParser:
    """Return the parser of all subcommands, with the options of the one that is `called`.

    Only the module of that subcommand is imported, as importing some takes half a second.
    """
    parser = argparse.ArgumentParser(
        prog="scan",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(run=None, parser=parser)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="command")
    of_core = {
        name: (text, f"scan.commands.{FILES.get(name, name)}:add_{name}")
        for name, text in COMMANDS.items()
    }
    for name, (text, path) in (of_core | registry.commands()).items():
        command = add_command(commands, name, text)
        if name == called:
            resolve_name(path)(command)
    return parser
