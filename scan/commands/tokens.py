"""`scan tokens refresh`: has the indexer read tokens from the node again.

Exit code 1: none of the named tokens is indexed.
"""

import argparse

from scan import parameters
from scan.commands import arguments, startup
from scan.observability.logs import print_lines
from scan.settings import Settings


def add_tokens(group: argparse.ArgumentParser) -> None:
    text = "have the indexer read names, symbols, decimals and supplies again"
    refresh = arguments.add_command(arguments.add_actions(group), "refresh", text, run=run)
    refresh.add_argument("addresses", nargs="*", metavar="ADDRESS", help="tokens; default: all")


def run(settings: Settings, options: argparse.Namespace) -> int:
    addresses = [parameters.address(text) for text in options.addresses] or None
    with startup.connected(settings, "scan-tokens") as database:
        marked = {"addresses": addresses, "compared": addresses is not None}
        count = len(database.rows("indexer/tokens_mark_changed", **marked))
    print_lines(f"tokens that the indexer reads again: {count}")
    return int(count == 0 and addresses is not None)
