"""The `scan` command: what can be called, and with what. The work is done elsewhere."""

import argparse
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scan.errors import ScanError, SettingError
from scan.observability import logs, metrics
from scan.settings import ROOT, Settings

EXIT_FAILED, EXIT_WRONG_CALL = 1, 2

DESCRIPTION = """\
A block explorer's REST API over an EVM node. Everything is set by environment variables; those of
the README's table, most of all DATABASE_URL and RPC_URL. Exits with 0 when done, 1 when it failed,
2 when it was called or configured wrongly."""

EXAMPLES = """\
a demo chain, to look around:     scan run
your node, on one machine:        RPC_URL=http://localhost:8545 scan run
parts apart, for production:      scan serve, scan index, scan deliver (see docs/operation.md)
is all well?                      scan status --most-behind 10"""

KEY_REQUEST = """\
Get an API key for an address. With SCAN_PRIVATE_KEY in the environment everything is done here.
Otherwise call it with --owner alone: it prints the message to sign with that wallet; and then
again with the --timestamp it told and the --signature that the wallet gave."""

LABELS = """\
Stores what addresses are called, from a CSV file with the columns address and label:
    0xd8da6bf26964af9d7eed9e03e53415d37aa96045,vitalik.eth
A label replaces the one before it, an empty one removes it. All of the file is stored or, when a
line is wrong, nothing; that line is named. Answers show it at once."""


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        settings = Settings.from_environment()
        logs.configure(settings)
        return int(options.command(settings, options))
    except SettingError as error:
        print(f"scan: {error}", file=sys.stderr)
        return EXIT_WRONG_CALL
    except ScanError as error:
        print(f"scan: {error.message}", file=sys.stderr)
        return EXIT_FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scan",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, command, text in (
        ("run", _run, "everything on one machine: database, indexer, API, webhooks"),
        ("serve", _serve, "the HTTP API alone"),
        ("index", _index, "the indexer alone"),
        ("deliver", _deliver, "webhook deliveries alone"),
        ("migrate", _migrate, "bring the database's schema up to date, as every start does"),
    ):
        _add(commands, name, command, text)
    _add_status(commands)
    _add_audit(commands)
    _add_labels(commands)
    _add_key(commands)
    _add_solc(commands)
    return parser


def _add(
    commands: Any,
    name: str,
    command: Callable[[Settings, argparse.Namespace], int],
    text: str,
    description: str = "",
) -> argparse.ArgumentParser:
    added: argparse.ArgumentParser = commands.add_parser(
        name,
        help=text,
        description=description or f"{text[0].upper()}{text[1:]}.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    added.set_defaults(command=command)
    return added


def _add_group(commands: Any, name: str, text: str) -> Any:
    group = commands.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
    return group.add_subparsers(required=True, metavar="action")


def _add_status(commands: Any) -> None:
    text = "whether a running service serves, and how far behind the node it is"
    status = _add(commands, "status", _status, text, f"Says {text}. Exits 0 when all is well.")
    status.add_argument("--url", help="where it serves; default http://HOST:PORT")
    status.add_argument("--most-behind", type=int, metavar="BLOCKS", help="more is not well")
    status.add_argument("--json", action="store_true", help="for scripts")


def _add_audit(commands: Any) -> None:
    text = "count everything derived anew, and compare the rows with the node; 1: something differs"
    audit = _add(commands, "audit", _audit, "is what is indexed exact?", text)
    audit.add_argument("--repair", action="store_true", help="mend derived values")
    audit.add_argument("--node", action="store_true", help="compare blocks with those of RPC_URL")
    audit.add_argument(
        "--blocks", type=int, default=1000, help="with --node: how many, 0 for all (1000)"
    )
    audit.add_argument("--digest", action="store_true", help="only tell a digest of each table")


def _add_labels(commands: Any) -> None:
    actions = _add_group(commands, "labels", "what addresses are called")
    load = _add(actions, "import", _import_labels, "store labels from a CSV file", LABELS)
    load.add_argument("file", type=Path, metavar="FILE.csv")


def _add_key(commands: Any) -> None:
    actions = _add_group(commands, "key", "API keys")
    request = _add(actions, "request", _key_request, "get an API key for a wallet", KEY_REQUEST)
    request.add_argument("--url", help="where Scan serves; default http://HOST:PORT")
    request.add_argument("--owner", help="the wallet's address")
    request.add_argument("--label", default="", help="what you will know the key by")
    request.add_argument("--timestamp", type=int, help="the Unix milliseconds that were signed")
    request.add_argument("--signature", help="what the wallet gave, 0x...")


def _add_solc(commands: Any) -> None:
    actions = _add_group(commands, "solc", "the Solidity compilers that verification uses")
    install = _add(actions, "install", _install_compilers, "fetch compilers and check them")
    install.add_argument("versions", nargs="+", metavar="VERSION", help="such as 0.8.26")
    _add(actions, "list", _list_compilers, "which are there")


def _run(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.commands import run

    return run.run(settings)


def _serve(settings: Settings, _options: argparse.Namespace) -> int:
    _require_database(settings)
    _bring_up(settings)
    configuration = str(ROOT / "gunicorn.conf.py")
    os.execv(
        sys.executable,
        [sys.executable, "-m", "gunicorn", "--config", configuration, "app:create_app()"],
    )


def _index(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.database.connection import Database
    from scan.ethereum.client import Node
    from scan.indexer.follower import Follower

    _require_database(settings)
    _require_node(settings)
    _bring_up(settings)
    stop = threading.Event()
    _on_signals(stop.set)
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-indexer")
    node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
    metrics.serve(settings.metrics_port)
    Follower(settings, database, node, stop).run()
    return 0


def _deliver(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.webhooks.dispatcher import Dispatcher

    _require_database(settings)
    _bring_up(settings)
    dispatcher = Dispatcher(settings)
    _on_signals(dispatcher.request_stop)
    metrics.serve(settings.metrics_port)
    dispatcher.run()
    return 0


def _migrate(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.database import migrations

    settings = _with_running_database(settings)
    applied = migrations.run(settings)
    print("\n".join(f"applied {name}" for name in applied) or "the schema is current")
    return 0


def _status(settings: Settings, options: argparse.Namespace) -> int:
    from scan.commands import status

    return status.run(settings, options.url, most_behind=options.most_behind, as_json=options.json)


def _audit(settings: Settings, options: argparse.Namespace) -> int:
    from scan.audit import derived_tables

    settings = _with_running_database(settings)
    if options.node:
        _require_node(settings)
    return derived_tables.run(settings, options)


def _import_labels(settings: Settings, options: argparse.Namespace) -> int:
    from scan.commands import labels
    from scan.database.connection import Database

    settings = _with_running_database(settings)
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-labels")
    try:
        stored, removed = labels.import_file(database, options.file)
    except OSError as error:
        print(f"scan: {options.file}: {error.strerror}", file=sys.stderr)
        return EXIT_FAILED
    print(f"{stored} labels stored, {removed} removed")
    return 0


def _key_request(settings: Settings, options: argparse.Namespace) -> int:
    from scan.commands import key_request

    return key_request.run(settings, options)


def _install_compilers(settings: Settings, options: argparse.Namespace) -> int:
    from tqdm import tqdm

    from scan.verification.compiler_install import NotFetched, install_one
    from scan.verification.compiler_releases import dotted, parse_version
    from scan.verification.installed_compilers import InstalledCompilers

    compilers = InstalledCompilers(settings)
    failures = 0
    wanted = [parse_version(version) for version in options.versions]
    for each in tqdm(wanted, unit=" compilers", disable=None, leave=False):  # a terminal's bar
        try:
            tqdm.write(str(install_one(compilers, each)))
        except (NotFetched, OSError) as error:
            failures += 1
            print(f"scan: solc {dotted(each)}: {error}", file=sys.stderr)
    return EXIT_FAILED if failures else 0


def _list_compilers(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.verification.compiler_releases import dotted
    from scan.verification.installed_compilers import InstalledCompilers

    for each in InstalledCompilers(settings).versions():
        print(dotted(each))
    return 0


def _on_signals(stop: Callable[[], None]) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop())


def _bring_up(settings: Settings) -> None:
    """At every start; a database that is away now is waited for by what starts, as later on."""
    from scan.database import migrations

    try:
        migrations.run(settings)
    except ScanError as error:
        logging.warning("the schema could not be checked: %s", error.message)


def _with_running_database(settings: Settings) -> Settings:
    """Without DATABASE_URL, the database of the `scan run` that uses the same SCAN_DATA_DIR."""
    from scan.commands.run import with_running_database

    settings = with_running_database(settings)
    _require_database(settings)
    return settings


def _require_database(settings: Settings) -> None:
    if not settings.database_url:
        raise SettingError("DATABASE_URL", "", "a database is needed; `scan run` brings its own")


def _require_node(settings: Settings) -> None:
    if not settings.rpc_urls:
        raise SettingError("RPC_URL", "", "the address of a node is needed")


if __name__ == "__main__":
    sys.exit(main())
