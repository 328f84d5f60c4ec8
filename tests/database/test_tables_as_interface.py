"""SQL as an interface: a role that only reads the chain, views, the queries of docs/tables.md."""

import re
from collections.abc import Iterator

import psycopg2
import pytest
from psycopg2.extensions import parse_dsn

from tests.commands.test_command import scan
from tests.support.indexing import Indexing
from tests.support.tables_document import DOCUMENT, LEFT_OUT, whole

QUERIES = re.findall(r"```sql\n(SELECT.*?)```", DOCUMENT.read_text(), re.S)


@pytest.fixture(scope="module")
def role(indexed: Indexing) -> Iterator[tuple[str, str]]:
    done = scan("sql-role", "analyst_of_tests", DATABASE_URL=indexed.settings.database_url)
    assert done.returncode == 0, done.stderr
    [password] = re.findall(r"^password  (\w+)$", done.stdout, re.M)
    yield "analyst_of_tests", password
    connection = psycopg2.connect(indexed.settings.database_url)
    connection.autocommit = True
    connection.cursor().execute("DROP OWNED BY analyst_of_tests; DROP ROLE analyst_of_tests")
    connection.close()


@pytest.fixture
def cursor(indexed: Indexing, role: tuple[str, str]) -> Iterator["psycopg2.extensions.cursor"]:
    """As that role."""
    parts = parse_dsn(indexed.settings.database_url)
    connection = psycopg2.connect(**{**parts, "user": role[0], "password": role[1]})
    yield connection.cursor()
    connection.close()


def test_the_document_is_what_the_schema_says() -> None:
    message = "run python -m tests.support.tables_document"
    assert DOCUMENT.read_text(encoding="utf-8") == whole(), message


def test_there_are_ten_queries() -> None:
    assert len(QUERIES) == 10


@pytest.mark.parametrize("number", range(10))
def test_the_queries_of_the_document_run(cursor: "psycopg2.extensions.cursor", number: int) -> None:
    cursor.execute(QUERIES[number])
    assert cursor.description is not None
    cursor.fetchall()


def test_views_show_what_the_api_does(cursor: "psycopg2.extensions.cursor", client: object) -> None:
    get = client.get  # type: ignore[attr-defined]
    [newest] = get("/api/v1/transactions?limit=1").json["transactions"]
    cursor.execute(
        "SELECT block_number, from_address, to_address, value_wei::text, nonce::text, method"
        " FROM v1.transactions WHERE hash_bytes = v1.bytes(%s)",
        [newest["hash"]],
    )
    keys = ("blockNumber", "fromAddress", "toAddress", "value")
    [row] = cursor.fetchall()
    assert list(row[:4]) == [newest[key] for key in keys]
    for view, path, name in (
        ("token_transfers", "token-transfers", "transfers"),
        ("dex_trades", "dex-trades", "trades"),
        ("tokens", "tokens", "tokens"),
        ("blocks", "blocks", "blocks"),
    ):
        body = get(f"/api/v1/{path}?limit=1").json
        cursor.execute(f"SELECT count(*) FROM v1.{view}")  # noqa: S608
        assert cursor.fetchone() == (body["total"],), (view, name)


@pytest.mark.parametrize("table", sorted(LEFT_OUT - {"log_emitters", "list_checkpoints"}))
def test_the_role_reads_nothing_of_the_services_users(
    cursor: "psycopg2.extensions.cursor", table: str
) -> None:
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        cursor.execute(f"SELECT * FROM {table} LIMIT 1")  # noqa: S608


@pytest.mark.parametrize(
    "statement",
    [
        "SET default_transaction_read_only = off; DELETE FROM blocks",
        "SET default_transaction_read_only = off; CREATE TABLE t ()",
        "SELECT create_reading_role('x', 'x', '1s')",
    ],
)
def test_the_role_changes_nothing(cursor: "psycopg2.extensions.cursor", statement: str) -> None:
    with pytest.raises(
        (psycopg2.errors.InsufficientPrivilege, psycopg2.errors.ReadOnlySqlTransaction)
    ):
        for part in statement.split("; "):
            cursor.execute(part)
            cursor.connection.commit()


@pytest.mark.parametrize(
    "name", ["", "Analyst", 'a"; DROP TABLE blocks; --', "a" * 40, "postgres", "pg_monitor"]
)
def test_unsuitable_names_are_refused(indexed: Indexing, name: str) -> None:
    done = scan("sql-role", name, DATABASE_URL=indexed.settings.database_url)
    assert done.returncode == 1 and "password" not in done.stdout
