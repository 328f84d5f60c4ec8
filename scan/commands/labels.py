"""Names that operators give to addresses, from a CSV file."""

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from scan import parameters
from scan.database.connection import Database
from scan.errors import InvalidParameter

MAX_LABEL = 100
AT_ONCE = 5_000


class Label(NamedTuple):
    """Of an address; an empty text takes its label away."""

    address: bytes
    text: str


class Imported(NamedTuple):
    stored: int
    removed: int


def read(lines: Iterable[str]) -> list[Label]:
    """Rows `address,label`, the last of an address counts; raises InvalidParameter with the line.

    A first row that has no address in it is a heading.
    """
    found: dict[bytes, Label] = {}
    rows = csv.reader(lines, strict=True)
    try:
        for row in rows:
            if row and not (rows.line_num == 1 and not row[0].strip().lower().startswith("0x")):
                label = _label(row)
                found[label.address] = label
    except (InvalidParameter, csv.Error) as error:
        raise InvalidParameter(f"line {rows.line_num}: {error}") from None
    return list(found.values())


def _label(row: list[str]) -> Label:
    if len(row) != 2:
        raise InvalidParameter("two columns are expected, address and label.")
    text = parameters.text(row[1].strip(), "label", most=MAX_LABEL)
    if not text.isprintable():
        raise InvalidParameter("label must be printable.")
    return Label(parameters.address(row[0].strip()), text)


def import_file(database: Database, path: Path) -> Imported:
    """All of the file or none of it; answers show it at once."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        labels = read(file)
    kept = [label for label in labels if label.text]
    gone = [label.address for label in labels if not label.text]
    with database.transaction() as tx:
        removed = tx.execute("commands/labels_delete", addresses=gone)
        # `disable=None` shows a bar on a terminal alone.
        with tqdm(total=len(kept), unit=" labels", disable=None, leave=False) as bar:
            for first in range(0, len(kept), AT_ONCE):
                batch = kept[first : first + AT_ONCE]
                addresses, texts = zip(*batch, strict=True)
                tx.execute("commands/labels_put", addresses=list(addresses), labels=list(texts))
                bar.update(len(batch))
    return Imported(len(kept), removed)
