"""The `scan` command."""

import argparse
import logging
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any, TypeAlias

from scan import logs, metrics
from scan.db import Database
from scan.errors import ScanError, SettingError
from scan.settings import ROOT, Settings


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        settings = Settings.from_environment()
        logs.configure(settings)
        return int(options.command(settings, options))
    except SettingError as error:
        print(f"scan: {error}", file=sys.stderr)
        return 2
    except ScanError as error:
        print(f"scan: {error.message}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scan", description="A block explorer's REST API over an EVM node."
    )
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, command, text in (
        ("run", _run, "everything on one machine: database, indexer, API, webhooks"),
        ("serve", _serve, "the HTTP API alone"),
        ("index", _index, "the indexer alone"),
        ("deliver", _deliver, "webhook deliveries alone"),
        ("migrate", _migrate, "bring the database's schema up to date"),
    ):
        commands.add_parser(name, help=text, description=text).set_defaults(command=command)
    _add_status(commands)
    _add_labels(commands)
    _add_key_request(commands)
    _add_audit(commands)
    return parser


def _add_audit(commands: Any) -> None:
    text = "count everything derived anew, and compare the rows with the node; 1: something differs"
    audit = commands.add_parser("audit", help="is what is indexed exact?", description=text)
    audit.add_argument("--repair", action="store_true", help="mend derived values")
    audit.add_argument("--node", action="store_true", help="compare blocks with those of RPC_URL")
    audit.add_argument(
        "--blocks", type=int, default=1000, help="with --node: how many, 0 for all (1000)"
    )
    audit.add_argument("--digest", action="store_true", help="only tell a digest of each table")
    audit.set_defaults(command=_audit)


def _audit(settings: Settings, options: argparse.Namespace) -> int:
    from scan import audit
    from scan.supervisor import with_running_database

    settings = with_running_database(settings)
    if not settings.database_url:
        raise SettingError("DATABASE_URL", "", "the database to audit is needed")
    if options.node and not settings.rpc_urls:
        raise SettingError("RPC_URL", "", "the address of a node is needed")
    return audit.run(settings, options)


KEY_REQUEST = """\
Get an API key for an address. With SCAN_PRIVATE_KEY in the environment everything is done here.
Otherwise call it with --owner alone: it prints the message to sign with that wallet; and then
again with the --timestamp it told and the --signature that the wallet gave."""


def _add_key_request(commands: Any) -> None:
    key = commands.add_parser("key", help="API keys")
    request = key.add_subparsers(required=True, metavar="command").add_parser(
        "request",
        help="get an API key for a wallet",
        description=KEY_REQUEST,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    request.add_argument("--url", help="where Scan serves; default http://HOST:PORT")
    request.add_argument("--owner", help="the wallet's address")
    request.add_argument("--label", default="", help="what you will know the key by")
    request.add_argument("--timestamp", type=int, help="the Unix milliseconds that were signed")
    request.add_argument("--signature", help="what the wallet gave, 0x...")
    request.set_defaults(command=_key_request)


def _key_request(settings: Settings, options: argparse.Namespace) -> int:
    from scan import key_request

    return key_request.run(settings, options)


_Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


def _add_status(commands: _Commands) -> None:
    text = "whether a running service serves, and how far behind the node it is"
    status = commands.add_parser(
        "status", help=text, description=f"Says {text}. Exits 0 when all is well, else 1."
    )
    status.add_argument("--url", help="where it serves; default http://HOST:PORT")
    status.add_argument("--most-behind", type=int, metavar="BLOCKS", help="more is not well")
    status.add_argument("--json", action="store_true", help="for scripts")
    status.set_defaults(command=_status)


LABELS = """\
Stores what addresses are called, from a CSV file with the columns address and label:
    0xd8da6bf26964af9d7eed9e03e53415d37aa96045,vitalik.eth
A label replaces the one before it, an empty one removes it. All of the file is stored or, when a
line is wrong, nothing; that line is named. Answers show it at once."""


def _add_labels(commands: _Commands) -> None:
    labels = commands.add_parser("labels", help="what addresses are called")
    load = labels.add_subparsers(required=True, metavar="action").add_parser(
        "import",
        help="store labels from a CSV file",
        description=LABELS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    load.add_argument("file", type=Path, metavar="FILE.csv")
    load.set_defaults(command=_import_labels)


def _run(settings: Settings, _options: argparse.Namespace) -> int:
    from scan import supervisor

    return supervisor.run(settings)


def _serve(settings: Settings, _options: argparse.Namespace) -> int:
    _require_database(settings)
    _bring_up(settings)
    configuration = str(ROOT / "gunicorn.conf.py")
    os.execv(
        sys.executable,
        [sys.executable, "-m", "gunicorn", "--config", configuration, "app:create_app()"],
    )


def _index(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.indexer.follow import Follower
    from scan.rpc import Node

    _require_database(settings)
    if not settings.rpc_urls:
        raise SettingError("RPC_URL", "", "the address of a node is needed")
    _bring_up(settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-indexer")
    node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
    metrics.serve(settings.metrics_port)
    Follower(settings, database, node, stop).run()
    return 0


def _deliver(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.delivery.pool import Pool

    _require_database(settings)
    _bring_up(settings)
    pool = Pool(settings)
    metrics.serve(settings.metrics_port)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: pool.request_stop())
    pool.run()
    return 0


def _migrate(settings: Settings, _options: argparse.Namespace) -> int:
    from scan import migrate

    _require_database(settings)
    applied = migrate.run(settings)
    print("\n".join(f"applied {name}" for name in applied) or "the schema is current")
    return 0


def _status(settings: Settings, options: argparse.Namespace) -> int:
    from scan import status

    return status.run(settings, options.url, most_behind=options.most_behind, as_json=options.json)


def _import_labels(settings: Settings, options: argparse.Namespace) -> int:
    from scan import labels
    from scan.supervisor import with_running_database

    settings = with_running_database(settings)
    _require_database(settings)
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-labels")
    try:
        stored, removed = labels.import_file(database, options.file)
    except OSError as error:
        print(f"scan: {options.file}: {error.strerror}", file=sys.stderr)
        return 1
    print(f"{stored} labels stored, {removed} removed")
    return 0


def _bring_up(settings: Settings) -> None:
    """At every start; a database that is away now is waited for by what starts, as later on."""
    from scan import migrate

    if settings.database_url:
        try:
            migrate.run(settings)
        except ScanError as error:
            logging.warning("the schema could not be checked: %s", error.message)


def _require_database(settings: Settings) -> None:
    if not settings.database_url:
        raise SettingError("DATABASE_URL", "", "a database is needed; `scan run` brings its own")


if __name__ == "__main__":
    sys.exit(main())
