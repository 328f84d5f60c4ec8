"""A large export: memory is bounded whatever its size, and a killed import goes on."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from itertools import product

import duckdb
import pytest

from tests.support import memory, serving
from tests.support.database import execute, insert

CONTRACTS, ROWS_PER_FILE = 60_000, 5_000
# The columns that are read of each table, by the number n of a contract.
TABLES = {
    "code": "hash_of('c', n) AS code_hash, hash_of('k', n) AS code_hash_keccak",
    "contracts": "id_of('r', n) AS id, hash_of('c', n) AS runtime_code_hash",
    "contract_deployments": """id_of('d', n) AS id, id_of('r', n) AS contract_id,
        1::BIGINT AS chain_id, hash_of('a', n)[:20] AS address""",
    "verified_contracts": """id_of('d', n) AS deployment_id, id_of('p', n) AS compilation_id,
        true AS runtime_match, false AS creation_match, true AS runtime_metadata_match,
        NULL::BOOLEAN AS creation_metadata_match""",
    "compiled_contracts": """id_of('p', n) AS id, '0.8.28+commit.7893614a' AS version,
        'src/Box.sol:Box' AS fully_qualified_name, '{}' AS compiler_settings,
        '{"abi": [{"type": "fallback"}], "filler": "' || repeat(md5(n::VARCHAR), 600) || '"}'
            AS compilation_artifacts""",
    "compiled_contracts_sources": """id_of('p', n) AS compilation_id, 'src/Box.sol' AS path,
        hash_of('contract C', n) AS source_hash""",
    "sources": "'contract C' || n AS content, hash_of('contract C', n) AS source_hash",
}


@contextmanager
def importing(url, folder):
    options = ["contracts", "import", "--from", "parquet", str(folder)]
    command = [sys.executable, "-m", "scan", *options]
    environment = {**os.environ, "DATABASE_URL": url}
    with (
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process,
        memory.PeakMemory(process.pid) as peak,
    ):
        yield process, peak


@pytest.mark.long
def test_memory_is_bounded_and_a_killed_import_goes_on(database_url, tmp_path):
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        connection.execute("CREATE MACRO hash_of(kind, n) AS unhex(sha256(kind || n))")
        connection.execute("CREATE MACRO id_of(kind, n) AS md5(kind || n)::UUID::VARCHAR")
        for (table, columns), first in product(TABLES.items(), range(0, CONTRACTS, ROWS_PER_FILE)):
            last = first + ROWS_PER_FILE
            rows = f"SELECT {columns} FROM range({first}, {last}) AS r (n)"  # noqa: S608
            file = tmp_path / f"{table}_{first}_{last}.parquet"
            connection.execute(f"COPY ({rows}) TO '{file}' (COMPRESSION zstd)")
    most_mebibytes = 1_300  # of which DuckDB may hold 768, and all artifacts would take as many
    chain_id = 1
    insert(database_url, "chain", chain_id=chain_id, genesis_hash=bytes(32))
    insert(database_url, "blocks")
    read = "SELECT file, read_at FROM read_export_files WHERE file ~ '^(compiled|verified)'"
    with importing(database_url, tmp_path) as (process, _):
        serving.wait_until(lambda: len(execute(database_url, read)) > 2, process, timeout_s=600)
        process.send_signal(signal.SIGKILL)
    before = execute(database_url, read)
    with importing(database_url, tmp_path) as (process, peak):
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert peak.mebibytes < most_mebibytes
    assert {*before} <= {*execute(database_url, read)}
    for table in ("contracts", "compilations", "files", "sources"):
        count = f"SELECT count(*) FROM exported_{table}"  # noqa: S608
        assert execute(database_url, count) == [(CONTRACTS,)], table
