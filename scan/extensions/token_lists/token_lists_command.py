"""`scan token-lists`: imports, lists and exports token lists with their logos."""

import argparse
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from tqdm import tqdm

from scan import parameters
from scan.commands import EXIT_FAILED
from scan.commands.arguments import add_actions, add_command, add_list, print_rows
from scan.commands.startup import connected
from scan.database import connection
from scan.errors import ScanError
from scan.extensions.items.settings import Settings as MediaSettings
from scan.extensions.token_lists import token_list
from scan.files import file_errors
from scan.observability.logs import print_lines
from scan.outbound.http_client import AttemptTimeouts, HttpClient, NotFetched, tls_context
from scan.settings import Settings

NAME = "scan-token-lists"
LIST_TIMEOUTS = AttemptTimeouts(total_s=60.0, connect_s=5.0)
MAX_SHOWN = 20

IMPORT = """\
Stores the tokens of a token list (tokenlists.org) that are on the indexed chain, and their logos:
    scan token-lists import https://tokens.uniswap.org
    scan token-lists import tokens.json
A list replaces an earlier one of the same name. A token that several lists have is of the one
imported last. Entries that are malformed are reported and left out. Logos are fetched once and
served by Scan; an import that was interrupted goes on, and tries those again that failed."""


NAMES = ("address", "list", "name", "symbol", "decimals", "logoUri", "hasLogo")


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = add_actions(group)
    text = "store a token list and its logos"
    load = add_command(actions, "import", text, IMPORT, import_list)
    load.add_argument("source", metavar="URL|FILE.json", help="an https URL, or a file")
    load.add_argument("--without-logos", action="store_true", help="fetch no logos")
    add_list(actions, "print every listed token with its list", list_all, NAMES)
    text = "write listed tokens to a file that `import` accepts"
    export = add_command(actions, "export", text, run=export_list)
    export.add_argument("file", type=Path, metavar="FILE.json")
    export.add_argument("--list", metavar="NAME", help="of this list; all by default")
    remove = add_command(actions, "remove", "remove a list and its logos", run=remove_list)
    remove.add_argument("name", metavar="NAME")


def import_list(settings: Settings, options: argparse.Namespace) -> int:
    content = _content(settings, options.source)
    with connected(settings, NAME) as database:
        imported = token_list.read(content, _chain_id(database))
        removed = token_list.store(database, imported)
        print_lines(f"{imported.name}: {len(imported.tokens)} tokens stored, {removed} removed")
        _report_differences(database, imported)
        if not options.without_logos:
            _fetch_logos(settings, database, imported.name)
    return 0


def _content(settings: Settings, source: str) -> bytes:
    if "://" in source:
        fetcher = HttpClient(tls_context(settings.ca_bundle), LIST_TIMEOUTS)
        try:
            return fetcher.get(source, token_list.MAX_LIST_BYTES, settings.webhook_allow_networks)
        except NotFetched as error:
            raise ScanError(f"{source}: {error}") from None
    with file_errors(source), Path(source).open("rb") as file:
        content = file.read(token_list.MAX_LIST_BYTES + 1)
    if len(content) > token_list.MAX_LIST_BYTES:
        raise ScanError(f"{source}: the file has more than {token_list.MAX_LIST_BYTES} bytes")
    return content


def _chain_id(database: connection.Database) -> int:
    chain_id = database.value("queries/chain_get_id")
    if chain_id is None:
        raise ScanError("no block is indexed yet")
    return int(chain_id)


def _report_differences(database: connection.Database, imported: token_list.TokenList) -> None:
    for index, reason in imported.refused[:MAX_SHOWN]:
        print_lines(f"token {index + 1} of the list is left out: {reason}", file=sys.stderr)
    if len(imported.refused) > MAX_SHOWN:
        print_lines(f"{len(imported.refused)} tokens are left out in all", file=sys.stderr)
    rows = database.rows("token_lists/listed_tokens_list_other_decimals", list=imported.name)
    for address, listed, stored in rows[:MAX_SHOWN]:
        decimals = f"{listed} decimals in the list, {stored} in the contract, which count"
        print_lines(f"{address}: {decimals}")


def _fetch_logos(settings: Settings, database: connection.Database, name: str) -> None:
    fetcher = token_list.LogoFetcher(
        HttpClient(tls_context(settings.ca_bundle)),
        settings.of(MediaSettings).ipfs_gateway,
        settings.webhook_allow_networks,
    )
    rows = database.rows("token_lists/listed_tokens_list", list=name)
    uris = sorted({uri for *_, uri, has_logo in rows if uri and not has_logo})
    failures: Counter[str] = Counter()
    # With `disable=None` the bar is shown only on a terminal.
    with tqdm(total=len(uris), unit=" logos", disable=None, leave=False) as bar:
        for count in token_list.fetch_logos(database, fetcher, uris, failures):
            bar.update(count)
    print_lines(f"{len(uris) - failures.total()} logos stored, {failures.total()} failed")
    print_lines(*(f"  {count}: {reason}" for reason, count in failures.most_common()))


def list_all(settings: Settings, options: argparse.Namespace) -> int:
    with connected(settings, NAME) as database:
        print_rows(options, database.rows("token_lists/listed_tokens_list", list=None))
    return 0


def export_list(settings: Settings, options: argparse.Namespace) -> int:
    with connected(settings, NAME) as database:
        rows = database.rows("token_lists/listed_tokens_list", list=options.list)
        chain_id = _chain_id(database)
    tokens = [
        token_list.ListedToken(parameters.address(address), name, symbol, decimals, uri)
        for address, _, name, symbol, decimals, uri, _ in rows
    ]
    content = token_list.write(tokens, chain_id, datetime.now(UTC))
    with file_errors(options.file):
        options.file.write_bytes(content)
    print_lines(f"{len(tokens)} tokens written")
    return 0


def remove_list(settings: Settings, options: argparse.Namespace) -> int:
    with connected(settings, NAME) as database:
        removed = token_list.remove(database, options.name)
    print_lines(f"{removed} tokens removed")
    return 0 if removed else EXIT_FAILED
