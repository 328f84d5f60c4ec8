"""`scan labels`: imports and exports labels of addresses as CSV files, lists and removes them."""

import argparse
import csv
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from scan import parameters
from scan.commands import EXIT_FAILED, arguments, startup
from scan.database.transaction import Row
from scan.errors import InvalidParameter
from scan.files import file_errors
from scan.observability.logs import print_lines
from scan.settings import Settings

MAX_LABEL = 100
BATCH_ROWS = 5_000

IMPORT = """\
Stores labels of addresses from a CSV file with the columns address and label:
    0xd8da6bf26964af9d7eed9e03e53415d37aa96045,vitalik.eth
A label replaces the previous one; an empty label removes it. If a line is invalid, nothing is
stored and the line is reported. The next response shows the labels."""


def add_arguments(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    text = "store labels from a CSV file"
    load = arguments.add_command(actions, "import", text, IMPORT, import_file)
    load.add_argument("file", type=Path, metavar="FILE.csv")
    text = "print every address with its label"
    arguments.add_list(actions, text, list_all, ("address", "label"))
    remove = arguments.add_command(actions, "remove", "remove labels of addresses", run=remove_some)
    remove.add_argument("addresses", nargs="+", metavar="ADDRESS")
    text = "write all labels to a CSV file that `import` accepts"
    export = arguments.add_command(actions, "export", text, run=export_file)
    export.add_argument("file", type=Path, metavar="FILE.csv")


def import_file(settings: Settings, options: argparse.Namespace) -> int:
    with startup.connected(settings, "scan-labels") as database:
        with file_errors(options.file), options.file.open(encoding="utf-8-sig", newline="") as file:
            labels = read(file)
        stored = [(address, text) for address, text in labels.items() if text]
        with database.transaction() as tx:
            removed = tx.execute(
                "commands/labels_delete",
                addresses=[address for address, text in labels.items() if not text],
            )
            # With `disable=None` the bar is shown only on a terminal.
            with tqdm(total=len(stored), unit=" labels", disable=None, leave=False) as bar:
                for first in range(0, len(stored), BATCH_ROWS):
                    batch = stored[first : first + BATCH_ROWS]
                    addresses, texts = zip(*batch, strict=True)
                    tx.execute("commands/labels_put", addresses=list(addresses), labels=list(texts))
                    bar.update(len(batch))
    print_lines(f"{len(stored)} labels stored, {removed} removed")
    return 0


def list_all(settings: Settings, options: argparse.Namespace) -> int:
    arguments.print_rows(options, _stored(settings))
    return 0


def remove_some(settings: Settings, options: argparse.Namespace) -> int:
    addresses = [parameters.address(text) for text in options.addresses]
    with startup.connected(settings, "scan-labels") as database, database.transaction() as tx:
        removed = tx.execute("commands/labels_delete", addresses=addresses)
    print_lines(f"{removed} labels removed")
    return 0 if removed == len({*addresses}) else EXIT_FAILED


def export_file(settings: Settings, options: argparse.Namespace) -> int:
    labels = _stored(settings)
    with file_errors(options.file), options.file.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("address", "label"), *labels])
    print_lines(f"{len(labels)} labels written")
    return 0


def _stored(settings: Settings) -> list[Row]:
    with startup.connected(settings, "scan-labels") as database:
        return database.rows("commands/labels_list")


def read(lines: Iterable[str]) -> dict[bytes, str]:
    """Read rows `address,label`; an empty label removes one. Raises InvalidParameter with the line
    number.

    Of several rows of an address the last counts. A first row without an address is a heading.
    """
    labels: dict[bytes, str] = {}
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            if row and not (rows.line_num == 1 and not row[0].strip().lower().startswith("0x")):
                if len(row) != 2:
                    raise InvalidParameter("expected two columns, address and label.")
                text = parameters.text(row[1].strip(), "label", most=MAX_LABEL)
                if not text.isprintable():
                    raise InvalidParameter("label must be printable.")
                labels[parameters.address(row[0].strip())] = text
    except (InvalidParameter, csv.Error) as error:
        raise InvalidParameter(f"line {rows.line_num}: {error}") from None
    return labels
