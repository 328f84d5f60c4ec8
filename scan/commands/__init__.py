"""The `scan` command: one file per subcommand.

Input: arguments and settings. Output: an exit code: 0 success, 1 failure, 2 invalid arguments or
configuration.
Start with __init__.py (the parser), then startup.py (checks before a subcommand starts) and
run.py, which starts everything on one machine.
"""

import argparse
import os
import sys
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from scan.errors import ScanError, SettingError
from scan.observability import logs
from scan.settings import Settings

EXIT_FAILED, EXIT_WRONG_CALL = 1, 2

DESCRIPTION = """\
A self-hosted block explorer API for EVM chains. It is configured by environment variables, such as
DATABASE_URL and RPC_URL; the README lists all of them. Exit codes: 0 success, 1 failure, 2 invalid
arguments or configuration."""

EXAMPLES = """\
the demo chain:                   scan run
your node, on one machine:        RPC_URL=http://localhost:8545 scan run
separate processes, production:   scan serve, scan index, scan deliver (see docs/operation.md)
health check:                     scan status --most-behind 10"""

KEY_REQUEST = """\
Requests an API key for an address. With SCAN_PRIVATE_KEY in the environment this takes one step.
Otherwise run it with --owner to print the message to sign with that wallet; then run it again with
the printed --timestamp and the wallet's --signature."""

BACKFILL_FIELDS = """\
Fills columns that are null in blocks and transactions indexed by an older version: base fee, size,
nonce, gas limit, type, fees, cumulative gas and method. Starts with the newest blocks. The indexer
and the API may run meanwhile. After an interruption, the next run continues. Exits with 0 when
every row is filled, with 1 when it was stopped or the node did not return all data."""

BACKFILL_CHAIN = """\
Indexes a whole chain into an empty database in bulk: many processes fetch blocks into files, which
are then loaded table by table, indexes last. Needs the extra `bulk`, and no running
indexer. The result is what the indexer would have made, and the indexer continues from it. Blocks
are shown when all is done. After an interruption, the next run continues. See docs/bulk.md."""

BACKFILL_FETCH = """\
Fetches a part of the blocks of a bulk backfill that was begun on another machine, into the folder
that both share. It needs that folder and RPC_URL, no database. Of four machines, the first one runs
`scan backfill chain --part 1/4`, the others this command with 2/4, 3/4 and 4/4. What a machine does
not finish, the first one fetches. See docs/bulk.md."""

BACKFILL_DAILY = """\
Counts the days (UTC) that an older version indexed, for /api/v1/stats/daily and the page of charts.
Starts with the newest day. The indexer and the API may run meanwhile. After an interruption, the
next run continues. Exits with 0 when every day is counted, with 1 when it was stopped."""

BACKFILL_CANDLES = """\
Counts the trades that an older version indexed, for the candles and volumes of pools. Starts with
the newest ones. The indexer and the API may run meanwhile. After an interruption, the next run
continues. Exits with 0 when every trade is counted, with 1 when it was stopped."""

EXPORT = """\
Writes whole tables as files, one per table and range of blocks, and a manifest of the ranges with
their hashes. Run again after an interruption, or for newer blocks, it continues; a range that a
fork replaced is exported again. Tables: blocks, transactions, internal_transfers, withdrawals,
token_transfers, dex_trades, logs, tokens, or all. Needs the packages of scan[parquet]; see
docs/analytics.md."""

MCP = """\
Serves the API's read-only operations as tools for language models, over standard input and output
(Model Context Protocol). It is a client of a running service, which serves the same over HTTP at
/mcp. SCAN_API_KEY in the environment is the API key to use. Needs the packages of scan[mcp]; see
docs/agents.md."""

DOCTOR = """\
Checks everything that Scan depends on, with this environment: the node (methods, traces, archive,
speed), the database (version, settings, schema, indexes, growth of its disk, WAL archive, clock),
the replica, Redis, compilers and disks. Each line is ok, a warning, or an error with what to do.
Changes nothing. With --url it also sends three requests to the service. Exits 1 if there is an
error."""

SQL_ROLE = """\
Creates a role of PostgreSQL that can only read the chain's tables and the views of schema v1, with
a random password, which is printed; no API keys, webhooks or their secrets. For a role that exists
it sets a new password. DATABASE_URL must be of a role that may create roles. See docs/tables.md."""

LABELS_IMPORT = """\
Stores labels of addresses from a CSV file with the columns address and label:
    0xd8da6bf26964af9d7eed9e03e53415d37aa96045,vitalik.eth
A label replaces the previous one; an empty label removes it. If a line is invalid, nothing is
stored and the line is reported. The next response shows the labels."""

SIGNATURES_IMPORT = """\
Stores signatures of functions and events, which decode calls and events of unverified contracts.
A text file has one signature per line, optionally after its selector or topic:
    0xa9059cbb transfer(address,uint256)
    Transfer(address,address,uint256)
A JSON file maps selectors to signatures: {"0xa9059cbb": ["transfer(address,uint256)"]}. If a line
is invalid, nothing is stored and the invalid lines are reported. The next response uses the
signatures."""


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if not options.module:
        options.parser.print_help()
        return EXIT_WRONG_CALL
    try:
        settings = Settings.from_environment()
        logs.configure(settings)
        # Only the required module: importing some of them takes half a second.
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
        ("run", "run everything on one machine: database, indexer, API, webhooks"),
        ("serve", "run only the HTTP API"),
        ("index", "run only the indexer"),
        ("deliver", "run only webhook deliveries"),
    ):
        _add(commands, name, text)
    migrate = _add(commands, "migrate", "update the database schema; every start does this too")
    migrate.add_argument("--plan", action="store_true", help="only print what would be applied")
    groups = (
        _add_status,
        _add_doctor,
        _add_audit,
        _add_export,
        _add_backfill,
        _add_labels,
        _add_signatures,
    )
    for add in (*groups, _add_key, _add_solc, _add_mcp, _add_sql_role):
        add(commands)
    return parser


def _add(
    commands: Any, name: str, text: str, description: str = "", call: str = ""
) -> argparse.ArgumentParser:
    """A subcommand that calls `call`, module.function; by default `run` of the module `name`."""
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
    text = "whether a running service is ready, and how far it is behind the node"
    status = _add(
        commands, "status", f"report {text}", f"Reports {text}. Exits 0 when healthy, else 1."
    )
    status.add_argument("--url", help="URL of the service; default http://HOST:PORT")
    status.add_argument(
        "--most-behind", type=_number, metavar="BLOCKS", help="exit 1 when further behind the node"
    )
    status.add_argument("--json", action="store_true", help="print JSON")
    status.add_argument(
        "--watch", action="store_true", help="print a line every 2 s, with the speed, until Ctrl-C"
    )


def _add_doctor(commands: Any) -> None:
    text = "check the node, the database, compilers, disks and clocks"
    doctor = _add(commands, "doctor", text, DOCTOR)
    doctor.add_argument("--url", help="public URL of the service, to check it and its proxies")
    doctor.add_argument("--json", action="store_true", help="print JSON")


def _add_audit(commands: Any) -> None:
    text = "recompute all derived values and compare them; exits 1 if something differs"
    audit = _add(commands, "audit", text)
    audit.add_argument("--repair", action="store_true", help="correct derived values")
    audit.add_argument(
        "--node", action="store_true", help="also compare blocks with the node (RPC_URL)"
    )
    audit.add_argument(
        "--blocks", type=_number, default=1000, help="with --node: number of blocks; 0: all (1000)"
    )
    audit.add_argument("--digest", action="store_true", help="only print a digest of each table")
    text = "only the rows of these blocks, a thousand at a time"
    audit.add_argument("--from", dest="first", type=_number, metavar="BLOCK", help=text)
    audit.add_argument("--to", dest="last", type=_number, metavar="BLOCK", help="the last of them")


def _add_export(commands: Any) -> None:
    export = _add(commands, "export", "write whole tables as Parquet or CSV files", EXPORT)
    export.add_argument("tables", nargs="+", metavar="TABLE", help="a table, or all")
    export.add_argument("--format", choices=("parquet", "csv"), default="parquet")
    export.add_argument("--output", type=Path, required=True, metavar="DIR")
    export.add_argument(
        "--blocks-per-file", type=_count, default=10_000, metavar="N", help="10000 by default"
    )
    export.add_argument(
        "--from", type=_number, dest="block_from", metavar="BLOCK", help="the first block"
    )
    export.add_argument(
        "--to", type=_number, dest="block_to", metavar="BLOCK", help="the last block"
    )


def _number(text: str) -> int:
    """Of a block, of blocks, or the id of a record."""
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError("must be a whole number, 0 or more")
    return int(text)


def _add_backfill(commands: Any) -> None:
    actions = _add_group(
        commands, "backfill", "index a chain in bulk, or fill in what an older version did not"
    )
    _add(actions, "fields", "fill null columns from the node", BACKFILL_FIELDS, "backfill.fields")
    _add(actions, "daily", "count days from their blocks", BACKFILL_DAILY, "backfill.daily")
    text = "count candles of pools from their trades"
    _add(actions, "candles", text, BACKFILL_CANDLES, "backfill.candles")
    text = "index a whole chain into an empty database, in bulk"
    chain = _add(actions, "chain", text, BACKFILL_CHAIN, "chain_backfill.run")
    chain.add_argument("--folder", help="for its files; default SCAN_DATA_DIR/bulk")
    chain.add_argument(
        "--workers", type=_count, default=os.cpu_count(), help="processes that fetch"
    )
    chain.add_argument("--memory", type=_count, metavar="GB", help="default: a quarter of all")
    chain.add_argument(
        "--tables-at-once",
        type=_count,
        default=2,
        help="tables or partitions loaded at the same time (2)",
    )
    chain.add_argument("--range-blocks", type=_count, default=500, help="blocks in one file (500)")
    chain.add_argument(
        "--last-block", type=_number, help="default: SCAN_FINALITY blocks behind the node's head"
    )
    chain.add_argument(
        "--part", type=_part, default=(1, 1), help="fetch this part first, such as 1/4"
    )
    # As the indexer starts it: why it does not go on is its only output.
    chain.add_argument("--automatic", action="store_true", help=argparse.SUPPRESS)
    chain.add_argument(
        "--discard", action="store_true", help="end an unfinished backfill; empties the index"
    )

    text = "fetch a part of the blocks of a bulk backfill that another machine runs"
    fetch = _add(actions, "fetch", text, BACKFILL_FETCH, "chain_backfill.fetch")
    fetch.add_argument("--folder", required=True, help="of the backfill, on shared storage")
    fetch.add_argument("--part", type=_part, required=True, help="such as 2/4")
    fetch.add_argument(
        "--workers", type=_count, default=os.cpu_count(), help="processes that fetch"
    )


def _part(text: str) -> tuple[int, int]:
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count) <= 1000):
        raise argparse.ArgumentTypeError("must be a part of so many, such as 2/4")
    return int(number), int(count)


def _count(text: str) -> int:
    number = int(text)
    if not 1 <= number <= 1_000_000:
        raise ValueError
    return number


def _add_labels(commands: Any) -> None:
    actions = _add_group(commands, "labels", "manage labels of addresses")
    text = "store labels from a CSV file"
    load = _add(actions, "import", text, LABELS_IMPORT, "labels.import_file")
    load.add_argument("file", type=Path, metavar="FILE.csv")
    _add(actions, "list", "print every address with its label", call="labels.list_all")
    export = _add(
        actions,
        "export",
        "write all labels to a CSV file that `import` accepts",
        call="labels.export_file",
    )
    export.add_argument("file", type=Path, metavar="FILE.csv")


def _add_signatures(commands: Any) -> None:
    actions = _add_group(commands, "signatures", "manage signatures of functions and events")
    text = "store signatures from a file"
    load = _add(actions, "import", text, SIGNATURES_IMPORT, "signatures.import_file")
    load.add_argument("file", type=Path, metavar="FILE")
    load.add_argument(
        "--skip-invalid", action="store_true", help="skip invalid lines, store the others"
    )
    _add(actions, "list", "print every signature with its selector", call="signatures.list_all")
    remove = _add(actions, "delete", "delete signatures by selector", call="signatures.delete")
    remove.add_argument("selectors", nargs="+", metavar="SELECTOR", help="or a signature")


def _add_key(commands: Any) -> None:
    actions = _add_group(commands, "key", "manage API keys")
    request = _add(actions, "request", "get an API key for a wallet", KEY_REQUEST, "key.request")
    request.add_argument("--url", help="URL of the service; default http://HOST:PORT")
    request.add_argument("--owner", help="the wallet's address")
    request.add_argument("--label", default="", help="a name for the key")
    request.add_argument("--timestamp", type=int, help="the signed Unix time in milliseconds")
    request.add_argument("--signature", help="the wallet's signature, 0x...")
    listing = _add(actions, "list", "print the active keys in the database", call="key.list_active")
    listing.add_argument("--owner", help="only keys of this address")
    revoke = _add(
        actions, "revoke", "revoke keys; they become invalid within 5 s", call="key.revoke"
    )
    revoke.add_argument(
        "ids", nargs="+", type=_number, metavar="ID", help="as `scan key list` prints it"
    )


def _add_solc(commands: Any) -> None:
    actions = _add_group(commands, "solc", "manage the Solidity compilers that verification uses")
    install = _add(
        actions, "install", "download compilers and check their digests", call="solc.install"
    )
    install.add_argument("versions", nargs="+", metavar="VERSION", help="such as 0.8.26")
    _add(actions, "list", "print the installed versions", call="solc.list_installed")


def _add_mcp(commands: Any) -> None:
    mcp = _add(commands, "mcp", "serve tools for language models over stdin and stdout", MCP)
    mcp.add_argument("--url", help="URL of the service; default http://HOST:PORT")


def _add_sql_role(commands: Any) -> None:
    text = "create a role that reads the chain by SQL"
    role = _add(commands, "sql-role", text, SQL_ROLE, "sql_role.create")
    role.add_argument("name", metavar="NAME")
    role.add_argument("--statement-timeout", default="60s", metavar="TIME", help="60s by default")
