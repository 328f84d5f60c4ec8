"""`scan keep`: addresses whose rows SCAN_KEEP_DAYS does not remove."""

import argparse
from pathlib import Path

from scan import parameters
from scan.commands import EXIT_FAILED, arguments, startup
from scan.errors import InvalidParameter, ScanError
from scan.ethereum.checksums import require_checksum
from scan.files import file_errors
from scan.observability.logs import print_lines
from scan.settings import Settings

MOST = 100_000

ADD = """\
Keeps every transaction in which an address takes part, with all its rows, though SCAN_KEEP_DAYS
removes others. The lists of the address are complete from block 0 on if no rows are removed yet,
otherwise from the block at which lists begin now: see `scan keep list`."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    add = arguments.add_command(actions, "add", "keep the rows of addresses", ADD, add_some)
    add.add_argument("addresses", nargs="*", metavar="ADDRESS")
    text = "with an address a line, and comments after #"
    add.add_argument("--file", type=Path, metavar="FILE", help=text)
    text = "also those that webhooks watch now"
    add.add_argument("--watched", action="store_true", help=text)
    text = "print every kept address with the block from which on it is complete"
    arguments.add_list(actions, text, list_all, ("address", "completeFrom"))
    text = "keep addresses no more: their lists begin where those of others do"
    remove = arguments.add_command(actions, "remove", text, run=remove_some)
    remove.add_argument("addresses", nargs="+", metavar="ADDRESS")


def add_some(settings: Settings, options: argparse.Namespace) -> int:
    """Raises InvalidParameter with the line of a file, ScanError where there are too many."""
    addresses = [_address(text) for text in options.addresses]
    if options.file is not None:
        with file_errors(options.file), options.file.open(encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                try:
                    addresses += [_address(text) for text in line.partition("#")[0].split()]
                except InvalidParameter as error:
                    raise InvalidParameter(f"{options.file}, line {number}: {error}") from None
    with startup.connected(settings, "scan-keep") as database, database.transaction() as tx:
        added = tx.execute(
            "commands/kept_addresses_add", addresses=addresses, are_watched=options.watched
        )
        kept = len(tx.rows("commands/kept_addresses_list"))
        if kept > MOST:
            raise ScanError(f"{kept:,} addresses would be kept, of at most {MOST:,}")
    print_lines(f"{added} addresses added, {kept} are kept")
    return 0


def _address(text: str) -> bytes:
    """Return an address. One in mixed case has to have its checksum: rows of an address that was
    meant are gone for good."""
    address = parameters.address(text)
    require_checksum(text)
    return address


def list_all(settings: Settings, options: argparse.Namespace) -> int:
    with startup.connected(settings, "scan-keep") as database:
        arguments.print_rows(options, database.rows("commands/kept_addresses_list"))
    return 0


def remove_some(settings: Settings, options: argparse.Namespace) -> int:
    addresses = {parameters.address(text) for text in options.addresses}
    with startup.connected(settings, "scan-keep") as database, database.transaction() as tx:
        removed = tx.execute("commands/kept_addresses_remove", addresses=[*addresses])
        tx.execute("indexer/chain_notify")
    print_lines(f"{removed} addresses removed")
    return 0 if removed == len(addresses) else EXIT_FAILED
