"""Data that an operator of the demo chain would add: labels and verified contracts.

demo/record.py writes the file, whose contracts it has verified.
"""

import gzip
import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from scan.contracts.abi_index import signatures_of
from scan.database.connection import Database
from scan.errors import ScanError
from scan.hex import data
from scan.settings import ROOT, Settings

log = logging.getLogger(__name__)

PATH = ROOT / "demo" / "operator_data.json.gz"
# Columns that serve the search for contracts with similar code and Sourcify's form.
UNKNOWN = dict.fromkeys(("code_length", "masked_hash", "variable_ranges", "code_layouts"))
BYTES = ("address", "code_hash", "constructor_arguments")  # as hex in the file


def load(settings: Settings, path: Path = PATH) -> None:
    """Load labels and contracts into the demo's database. Rows that exist already stay."""
    with gzip.open(path) as file:
        added: dict[str, Any] = orjson.loads(file.read())
    database = Database(settings.database_url, statement_timeout_ms=10_000, name="scan-demo")
    try:
        with closing(database), database.transaction() as tx:
            addresses, labels = zip(*added["labels"], strict=True)
            tx.execute("commands/labels_put", addresses=[*map(data, addresses)], labels=[*labels])
            for row in added["verified"]:
                binary = {name: row[name] and data(row[name]) for name in BYTES}
                functions = signatures_of(orjson.loads(row["abi"]))
                called = {"selectors": [*functions], "signatures": [*functions.values()]}
                values = {**UNKNOWN, **row, **binary, **called}
                tx.execute("verification/verified_contracts_insert", **values)
    except ScanError as error:
        log.warning("labels and verified contracts of the demo are not stored: %s", error)
