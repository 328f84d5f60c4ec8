"""Small exports of the form of Sourcify's public one, written by its own types of columns
(sourcifyeth/parquet-export, config.py). Nothing of Scan is imported."""

import hashlib
import json
import uuid

import pyarrow
import pyarrow.parquet
from eth_utils import keccak

BYTES, TEXT, FLAG, LONG = (pyarrow.binary(), pyarrow.string(), pyarrow.bool_(), pyarrow.int64())
# Those that are read, and some that are not.
COLUMNS = {
    "code": {"code_hash": BYTES, "code": BYTES, "code_hash_keccak": BYTES},
    "contracts": {"id": TEXT, "creation_code_hash": BYTES, "runtime_code_hash": BYTES},
    "contract_deployments": {"id": TEXT, "chain_id": LONG, "address": BYTES, "contract_id": TEXT},
    "compiled_contracts": {
        "id": TEXT, "version": TEXT, "fully_qualified_name": TEXT, "compiler_settings": TEXT,
        "compilation_artifacts": TEXT,
    },
    "compiled_contracts_sources": {"compilation_id": TEXT, "source_hash": BYTES, "path": TEXT},
    "sources": {"source_hash": BYTES, "source_hash_keccak": BYTES, "content": TEXT},
    "verified_contracts": {
        "deployment_id": TEXT, "compilation_id": TEXT, "creation_match": FLAG,
        "runtime_match": FLAG, "runtime_metadata_match": FLAG, "creation_metadata_match": FLAG,
    },
    "signatures": {"signature_hash_32": BYTES, "signature_hash_4": BYTES, "signature": TEXT},
}  # fmt: skip


class Export:
    """Rows by table, and the folder to which write() writes them."""

    def __init__(self, folder, chain_id):
        self.folder = folder
        self.rows = {table: [] for table in COLUMNS}
        self.chain_id = chain_id

    def add(self, address, runtime, standard, name, version, abi=(), /, *, is_full=True, **changed):
        """Add a contract with its code and the standard JSON input that it is said to be of;
        `changed` are columns of any table with other values."""
        deployment, contract, compilation = (str(uuid.uuid4()) for _ in range(3))
        code = bytes.fromhex(runtime.removeprefix("0x"))
        code_hash, at = hashlib.sha256(code).digest(), bytes.fromhex(address[2:])
        deployed = {"id": deployment, "chain_id": self.chain_id, "address": at}
        match = {"runtime_match": True, "runtime_metadata_match": is_full, "creation_match": False}
        rows = [
            ("contract_deployments", {**deployed, "contract_id": contract}),
            ("contracts", {"id": contract, "runtime_code_hash": code_hash}),
            ("code", {"code_hash": code_hash, "code_hash_keccak": keccak(code), "code": code}),
            (
                "verified_contracts",
                {"deployment_id": deployment, "compilation_id": compilation, **match},
            ),
        ]
        row = {
            "id": compilation,
            "version": version,
            "fully_qualified_name": name,
            "compiler_settings": json.dumps(standard["settings"]),
            "compilation_artifacts": json.dumps({"abi": [*abi], "sources": {}}),
        }
        rows.append(("compiled_contracts", row))
        for path, source in standard["sources"].items():
            source_hash = hashlib.sha256(source["content"].encode()).digest()
            row = {"compilation_id": compilation, "path": path, "source_hash": source_hash}
            rows.append(("compiled_contracts_sources", row))
            rows.append(("sources", {"source_hash": source_hash, "content": source["content"]}))
        for table, row in rows:
            known = changed.keys() & COLUMNS[table].keys()
            self.rows[table].append({**row, **{column: changed[column] for column in known}})

    def add_signature(self, text):
        row = {"signature_hash_32": keccak(text=text), "signature": text}
        self.rows["signatures"].append(row)

    def write(self, rows_per_file=100_000, *, columns=None):
        """Write the tables as files; `columns` are other types of columns by table, None for one
        that is left out."""
        for table, rows in self.rows.items():
            types = {**COLUMNS[table], **(columns or {}).get(table, {})}
            schema = pyarrow.schema([pair for pair in types.items() if pair[1] is not None])
            folder = self.folder / table
            folder.mkdir(parents=True, exist_ok=True)
            for first in range(0, max(len(rows), 1), rows_per_file):
                part = [
                    {name: row.get(name) for name in schema.names}
                    for row in rows[first : first + rows_per_file]
                ]
                name = f"{table}_{first}_{first + rows_per_file}.parquet"
                content = pyarrow.Table.from_pylist(part, schema)
                pyarrow.parquet.write_table(content, folder / name, compression="zstd")
