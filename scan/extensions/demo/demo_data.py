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
# What verifying stores, in the order of storing, by the statements that do it.
STORED = {
    "verified_contracts": "verification/verified_contracts_insert",
    "storage_layouts": "verification/storage_layouts_put",
    "source_maps": "verification/source_maps_put",
    "creation_maps": "verification/creation_maps_put",
}


def load(settings: Settings, path: Path = PATH) -> None:
    """Load labels and contracts into the demo's database. Rows that exist already stay."""
    with gzip.open(path) as file:
        added: dict[str, Any] = orjson.loads(file.read())
    database = Database(settings.database_url, statement_timeout_ms=10_000, name="scan-demo")
    try:
        with closing(database), database.transaction() as tx:
            addresses, labels = zip(*added["labels"], strict=True)
            tx.execute("commands/labels_put", addresses=[*map(data, addresses)], labels=[*labels])
            for table, statement in STORED.items():
                for row in added["verified"][table]:
                    values = {name: _parameter(value) for name, value in row.items()}
                    if table == "verified_contracts":
                        functions = signatures_of(row["abi"])
                        values["selectors"] = [*functions]
                        values["signatures"] = [*functions.values()]
                    tx.execute(statement, **values)
    except ScanError as error:
        log.warning("labels and verified contracts of the demo are not stored: %s", error)


def _parameter(value: Any) -> Any:
    """Return a column's value, which the file has as PostgreSQL writes it in JSON."""
    if isinstance(value, str) and value.startswith("\\x"):
        return bytes.fromhex(value[2:])
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value
