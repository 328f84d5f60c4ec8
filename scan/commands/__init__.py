"""The `scan` command: one file for each subcommand.

Enters: arguments and settings. Leaves: an exit code: 0 done, 1 failed, 2 called wrongly.
Start with __init__.py (the parser), then startup.py (what has to hold before each starts) and
run.py, which starts everything on one machine.
"""

import argparse
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from scan.errors import ScanError, SettingError
from scan.observability import logs
from scan.settings import Settings

EXIT_FAILED, EXIT_WRONG_CALL = 1, 2

DESCRIPTION = """\
A block explorer's REST API over an EVM node. Environment variables configure it; the README lists
them, most of all DATABASE_URL and RPC_URL. Exits with 0 when done, 1 when it failed, 2 when it was
called or configured wrongly."""

EXAMPLES = """\
a demo chain, to look around:     scan run
your node, on one machine:        RPC_URL=http://localhost:8545 scan run
parts apart, for production:      scan serve, scan index, scan deliver (see docs/operation.md)
is all well?                      scan status --most-behind 10"""

KEY_REQUEST = """\
Requests an API key for an address. With SCAN_PRIVATE_KEY in the environment this is one step.
Otherwise call it with --owner alone: it prints the message to sign with that wallet; then call it
again with the printed --timestamp and the wallet's --signature."""

BACKFILL_FIELDS = """\
Fills what blocks and transactions lack that a version without these columns has indexed: base fee,
nonce, gas limit, type, fees, cumulative gas and method. The newest blocks come first. The indexer
and the API may run meanwhile; killed at any time, the next run goes on. Exits with 0 when nothing
lacks any more, with 1 when it was stopped, or the node did not give everything."""

LABELS_IMPORT = """\
Stores labels of addresses from a CSV file with the columns address and label:
    0xd8da6bf26964af9d7eed9e03e53415d37aa96045,vitalik.eth
A label replaces the one before it, an empty one removes it. All of the file is stored or, when a
line is wrong, nothing; that line is named. Responses show it at once."""

SIGNATURES_IMPORT = """\
Stores signatures of functions and events, by which methods and events of contracts that nobody
verified are decoded. A text file has one a line, with its selector or topic before it or without:
    0xa9059cbb transfer(address,uint256)
    Transfer(address,address,uint256)
A JSON file has them by selector: {"0xa9059cbb": ["transfer(address,uint256)"]}. All of the file is
stored or, when a line is wrong, nothing; those lines are named. Responses show it at once."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if not options.module:
        options.parser.print_help()
        return EXIT_WRONG_CALL
    try:
        settings = Settings.from_environment()
        logs.configure(settings)
        # Only the module that is needed: some of them import for half a second.
        module = import_module(f"scan.commands.{options.module}")
        return int(getattr(module, options.function)(settings, options))
    except SettingError as error:
        print(f"scan: {error}", file=sys.stderr)
        return EXIT_WRONG_CALL
    except ScanError as error:
        print(f"scan: {error.message}", file=sys.stderr)
        return EXIT_FAILED


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        print(f"scan {metadata.version('scan')}")
        parser.exit()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scan",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(module="", parser=parser)
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version")
    commands = parser.add_subparsers(metavar="command")
    for name, text in (
        ("run", "everything on one machine: database, indexer, API, webhooks"),
        ("serve", "the HTTP API alone"),
        ("index", "the indexer alone"),
        ("deliver", "webhook deliveries alone"),
        ("migrate", "bring the database's schema up to date, as every start does"),
    ):
        _add(commands, name, text)
    groups = (_add_status, _add_audit, _add_backfill, _add_labels, _add_signatures, _add_key)
    for add in (*groups, _add_solc):
        add(commands)
    return parser


def _add(
    commands: Any, name: str, text: str, description: str = "", call: str = ""
) -> argparse.ArgumentParser:
    """A subcommand that calls `call`, module.function; without it, `run` of the name's module."""
    added: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=description or _sentence(text),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    module, _, function = (call or f"{name}.run").partition(".")
    added.set_defaults(module=module, function=function)
    return added


def _add_group(commands: Any, name: str, text: str) -> Any:
    group = commands.add_parser(name, help=text, description=_sentence(text))
    group.set_defaults(parser=group)
    return group.add_subparsers(metavar="action")


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _add_status(commands: Any) -> None:
    text = "whether a running service serves, and how far behind the node it is"
    status = _add(commands, "status", text, f"Reports {text}. Exits 0 when all is well.")
    status.add_argument("--url", help="where it serves; default http://HOST:PORT")
    status.add_argument("--most-behind", type=int, metavar="BLOCKS", help="more is not well")
    status.add_argument("--json", action="store_true", help="for scripts")


def _add_audit(commands: Any) -> None:
    text = "count everything derived anew, and compare the rows with the node; 1: something differs"
    audit = _add(commands, "audit", "is what is indexed exact?", text)
    audit.add_argument("--repair", action="store_true", help="mend derived values")
    audit.add_argument("--node", action="store_true", help="compare blocks with those of RPC_URL")
    audit.add_argument(
        "--blocks", type=int, default=1000, help="with --node: how many, 0 for all (1000)"
    )
    audit.add_argument("--digest", action="store_true", help="only print a digest of each table")


def _add_backfill(commands: Any) -> None:
    actions = _add_group(commands, "backfill", "what rows of an older version lack")
    _add(actions, "fields", "fill them from the node", BACKFILL_FIELDS, "backfill.fields")


def _add_labels(commands: Any) -> None:
    actions = _add_group(commands, "labels", "labels of addresses")
    text = "store labels from a CSV file"
    load = _add(actions, "import", text, LABELS_IMPORT, "labels.import_file")
    load.add_argument("file", type=Path, metavar="FILE.csv")
    _add(actions, "list", "print every address with its label", call="labels.list_all")
    export = _add(actions, "export", "write them as `import` reads them", call="labels.export_file")
    export.add_argument("file", type=Path, metavar="FILE.csv")


def _add_signatures(commands: Any) -> None:
    actions = _add_group(commands, "signatures", "signatures of functions and events")
    text = "store signatures from a file"
    load = _add(actions, "import", text, SIGNATURES_IMPORT, "signatures.import_file")
    load.add_argument("file", type=Path, metavar="FILE")
    load.add_argument("--skip-invalid", action="store_true", help="store all lines but wrong ones")
    _add(actions, "list", "print every one with its selector", call="signatures.list_all")
    remove = _add(actions, "delete", "remove those of selectors", call="signatures.delete")
    remove.add_argument("selectors", nargs="+", metavar="SELECTOR", help="or a signature")


def _add_key(commands: Any) -> None:
    actions = _add_group(commands, "key", "API keys")
    request = _add(actions, "request", "get an API key for a wallet", KEY_REQUEST, "key.request")
    request.add_argument("--url", help="where Scan serves; default http://HOST:PORT")
    request.add_argument("--owner", help="the wallet's address")
    request.add_argument("--label", default="", help="a name for the key")
    request.add_argument("--timestamp", type=int, help="the Unix milliseconds that were signed")
    request.add_argument("--signature", help="the wallet's signature, 0x...")
    listing = _add(actions, "list", "print the active keys in the database", call="key.list_active")
    listing.add_argument("--owner", help="only those of this address")
    revoke = _add(actions, "revoke", "end keys; instances follow within 5 s", call="key.revoke")
    revoke.add_argument(
        "ids", nargs="+", type=int, metavar="ID", help="as `scan key list` prints it"
    )


def _add_solc(commands: Any) -> None:
    actions = _add_group(commands, "solc", "the Solidity compilers that verification uses")
    install = _add(actions, "install", "fetch compilers and check them", call="solc.install")
    install.add_argument("versions", nargs="+", metavar="VERSION", help="such as 0.8.26")
    _add(actions, "list", "print the installed versions", call="solc.list_installed")
