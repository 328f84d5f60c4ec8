"""Rows that DuckDB derives, as PostgreSQL's COPY reads them."""

from contextlib import closing

import pyarrow
import pytest

from scan.database import connection, transaction
from scan.extensions.backfill.warehouse import Warehouse, WarehouseError
from scan.extensions.exports.parquet import TEXT, ColumnFormat
from tests.support.database import execute

pytestmark = pytest.mark.thorough

NUMBER = pyarrow.int64()


@pytest.fixture
def warehouse(tmp_path):
    with closing(Warehouse.open(tmp_path, memory_bytes=1 << 30, threads=2)) as warehouse:
        yield warehouse


def test_texts_are_copied_as_they_are(warehouse, database_url):
    various = (
        "",
        None,
        "NULL",
        r"\N",
        r"\.",
        "a,b",
        'a "b"',
        "a\nb\r\n",
        "\x01 é 🙂",
        " x\t",
        "x" * 70_000,
    )
    numbers = list(range(5000))
    texts = [various[number % len(various)] for number in numbers]
    rows = {"number": pyarrow.array(numbers, NUMBER), "text": pyarrow.array(texts, TEXT)}
    warehouse.set_rows("copied_texts_files", pyarrow.table(rows))
    columns = {"number": ColumnFormat(NUMBER), "text": ColumnFormat(TEXT)}
    database = connection.Database(database_url, statement_timeout_ms=0)
    with closing(database), database.transaction() as tx:
        tx.script("CREATE TABLE copied_texts (number bigint, text text)")
        with warehouse.copy_text("bulk/files_copy", "copied_texts", columns) as (names, file):
            count = tx.copy("copied_texts", names, file, "FORMAT csv")
    copied = execute(database_url, "SELECT number, text FROM copied_texts ORDER BY ctid")
    assert count == len(texts)
    assert copied == list(zip(numbers, texts, strict=True))


def test_a_statement_that_fails_halfway_fails_after_its_rows(warehouse):
    table = pyarrow.table(
        {"number": pyarrow.array(["x" if n is None else str(n) for n in [*range(50_000), None]])}
    )
    warehouse.set_rows("failing_files", table)
    format = ColumnFormat(NUMBER)
    columns = {"number::BIGINT AS number": format, "repeat('x', 1000) AS filler": format}
    read = 0
    with (
        pytest.raises(WarehouseError, match="Could not convert string 'x'"),
        warehouse.copy_text("bulk/files_copy", "failing", columns) as (_, file),
    ):
        while text := file.read(transaction.READ_BYTES):
            read += len(text)
    assert read
