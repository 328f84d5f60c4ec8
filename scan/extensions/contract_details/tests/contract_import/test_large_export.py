"""An export of a million contracts: memory is bounded whatever its size, and a killed import goes
on. Ten million were measured with CONTRACTS changed."""

import os
import signal
import subprocess
import sys
from contextlib import contextmanager

import duckdb
import pytest

from tests.support.database import execute, insert
from tests.support.memory import PeakMemory
from tests.support.serving import wait_until

CONTRACTS = 1_000_000
# Of each table: rows for a contract, rows a file, and the columns of row `n`. Of ten contracts one
# is of another chain; ten have a code, and fifty a compilation of five files.
ID = "md5('{}' || ({}))::UUID::VARCHAR AS {}"
HASH = "unhex(sha256('{}' || ({}))) AS {}"
CODE, COMPILATION, FILE = "n // 10", "n // 50", "n // 5"
TABLES = {
    "code": (
        0.1, 100_000, HASH.format("c", "n", "code_hash"),
        HASH.format("k", "n", "code_hash_keccak"),
    ),
    "contracts": (
        1, 1_000_000, ID.format("r", "n", "id"), HASH.format("c", CODE, "runtime_code_hash"),
    ),
    "contract_deployments": (
        1, 1_000_000, ID.format("d", "n", "id"), ID.format("r", "n", "contract_id"),
        "CASE n % 10 WHEN 0 THEN 5 ELSE 1 END::BIGINT AS chain_id",
        "unhex(left(sha256('a' || n), 40)) AS address",
    ),
    "verified_contracts": (
        1, 1_000_000, ID.format("d", "n", "deployment_id"),
        ID.format("p", COMPILATION, "compilation_id"), "true AS runtime_match",
        "false AS creation_match", "true AS runtime_metadata_match",
        "NULL::BOOLEAN AS creation_metadata_match",
    ),
    "compiled_contracts": (
        0.02, 10_000, ID.format("p", "n", "id"), "'0.8.28+commit.7893614a' AS version",
        "'src/Box.sol:Box' AS fully_qualified_name", "'{}' AS compiler_settings",
        """'{"abi": [{"type": "fallback"}], "filler": "' || repeat(md5(n::VARCHAR), 300) || '"}'
            AS compilation_artifacts""",
    ),
    "compiled_contracts_sources": (
        0.1, 1_000_000, ID.format("p", FILE, "compilation_id"), "'src/' || n || '.sol' AS path",
        "unhex(sha256('contract C' || (n // 3) || repeat('x', 3000))) AS source_hash",
    ),
    "sources": (
        0.034, 10_000, "'contract C' || n || repeat('x', 3000) AS content",
        "unhex(sha256('contract C' || n || repeat('x', 3000))) AS source_hash",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    with duckdb.connect(config={"threads": 2, "memory_limit": "1GB"}) as connection:
        for table, (share, rows_per_file, *columns) in TABLES.items():
            for first in range(0, int(CONTRACTS * share), rows_per_file):
                last = min(first + rows_per_file, int(CONTRACTS * share))
                rows = f"SELECT {', '.join(columns)} FROM range({first}, {last}) AS r (n)"  # noqa: S608
                file = folder / f"{table}_{first}_{first + rows_per_file}.parquet"
                connection.execute(f"COPY ({rows}) TO '{file}' (COMPRESSION zstd)")
    return folder


@contextmanager
def importing(url, folder):
    options = ["contracts", "import", "--from", "parquet", str(folder)]
    command = [sys.executable, "-m", "scan", *options]
    environment = {**os.environ, "DATABASE_URL": url}
    with (
        subprocess.Popen(command, env=environment, stderr=subprocess.PIPE) as process,
        PeakMemory(process.pid) as peak,
    ):
        yield process, peak


@pytest.mark.long
def test_memory_is_bounded_and_a_killed_import_goes_on(database_url, folder):
    most_mebibytes = 1_300  # of which DuckDB may hold 768; 918 with ten million contracts
    chain_id = 1
    insert(database_url, "chain", chain_id=chain_id, genesis_hash=bytes(32))
    insert(database_url, "blocks")
    read = "SELECT file, read_at FROM read_export_files WHERE file ~ '^(compiled|verified)'"
    with importing(database_url, folder) as (process, _):
        wait_until(lambda: len(execute(database_url, read)) > 2, process, timeout_s=600)
        process.send_signal(signal.SIGKILL)
    before = execute(database_url, read)
    with importing(database_url, folder) as (process, peak):
        _, errors = process.communicate()
        assert process.returncode == 0, errors
        assert peak.mebibytes < most_mebibytes
    assert {*before} <= {*execute(database_url, read)}
    counts = "SELECT (SELECT count(*) FROM {}), (SELECT count(DISTINCT address) FROM {})"
    expected = CONTRACTS * 9 // 10
    assert execute(database_url, counts.format(*["exported_contracts"] * 2)) == [(expected,) * 2]
    count = "SELECT count(*) FROM {}"
    assert execute(database_url, count.format("exported_compilations")) == [(CONTRACTS // 50,)]
    assert execute(database_url, count.format("exported_files")) == [(CONTRACTS // 10,)]
