"""What `scan run` runs without RPC_URL: the demo chain, with the data that its operator would add,
labels and verified contracts, from a file that demo/record.py writes.
"""

import gzip
import logging
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from scan.commands.run import OwnNode, run_chain
from scan.contracts.abi_decoding import declared_signatures, signatures_of
from scan.database.connection import Database
from scan.errors import ScanError
from scan.extensions.demo import demo_chain, demo_node
from scan.hex import data
from scan.settings import ROOT, Settings

log = logging.getLogger(__name__)

PATH = ROOT / "demo" / "operator_data.json.gz"
# What verifying stores, in the order of storing, by the statements that do it.
STORED = {
    "verified_contracts": "verification/verified_contracts_insert",
    "compiled_sources": "verification/compiled_sources_put",
}


# What a visitor would look for longest, in the foot of the demo's pages.
LINKS = {
    "Failed transactions": "/txs?status=false",
    "A contract's storage": "/address/0xa7c59f010700930003b33ab25a7a0679c860f29c?tab=storage",
    "Approvals": "/address/0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266?tab=approvals",
    "Pending transactions": "/address/0x1949d0a5acfe4f4f60b62e95f275081f75c2cce9?tab=pending",
    "A proven balance": "/address/0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266",
}


def with_links(settings: Settings) -> Settings:
    """Return settings whose pages have LINKS, unless the operator has links of its own."""
    links = tuple((text, f"{settings.base_path}{path}") for text, path in LINKS.items())
    brand = settings.brand
    return settings if brand.links else replace(settings, brand=replace(brand, links=links))


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
                        declared = declared_signatures(row["abi"])
                        values["declared_hashes"] = [hash_ for hash_, _ in declared]
                        values["declared"] = [signature for _, signature in declared]
                    tx.execute(statement, **values)
    except ScanError as error:
        log.warning("labels and verified contracts of the demo are not stored: %s", error)


def _parameter(value: Any) -> Any:
    """Return a column's value, which the file has as PostgreSQL writes it in JSON."""
    if isinstance(value, str) and value.startswith("\\x"):
        return bytes.fromhex(value[2:])
    return orjson.dumps(value).decode() if isinstance(value, list | dict) else value


def run_demo_chain(settings: Settings) -> int:
    """Run with the bundled demo chain, which goes on."""

    def start(settings: Settings) -> Settings:
        demo_settings = replace(settings, chain_name=settings.chain_name or "Demo chain")
        server = demo_chain.start(settings.data_dir)
        return replace(
            with_links(demo_settings), rpc_urls=(server.url,), start_block=server.recording.first
        )

    def fill(settings: Settings) -> None:
        log.info("RPC_URL is not set: using the bundled demo chain")
        load(settings)

    digest = sha256(demo_node.RECORDING.read_bytes()).hexdigest()[:8]
    return run_chain(settings, OwnNode(start, digest, fill))
