"""SQL as an interface: a role that only reads the chain, views, the queries of docs/sql.md."""

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from decimal import Decimal, localcontext
from pathlib import Path
from urllib.parse import quote

import psycopg2
import pytest
from psycopg2.extensions import make_dsn, parse_dsn

from scan.database import migrations, server_faults
from scan.database.connection import Database
from scan.extensions.sql_access.indexing import end_sessions
from scan.settings import Settings
from tests.support import WAIT_S, documents, embedded, serving
from tests.support.database import execute
from tests.support.scan_command import scan
from tests.support.tables_document import DOCUMENT, GUIDE, LEFT_OUT, ROOT, whole


@pytest.fixture(scope="module")
def role(own_index):
    done = scan("sql-role", "analyst_of_tests", DATABASE_URL=own_index.url)
    assert done.returncode == 0, done.stderr
    [password] = re.findall(r"^password  (\w+)$", done.stdout, re.M)
    yield {**parse_dsn(own_index.url), "user": "analyst_of_tests", "password": password}
    execute(own_index.url, "DROP OWNED BY analyst_of_tests; DROP ROLE analyst_of_tests")


@pytest.fixture
def cursor(role):
    """As that role."""
    connection = psycopg2.connect(**role)
    yield connection.cursor()
    connection.close()


@pytest.mark.check
def test_the_document_is_what_the_schema_says():
    advice = "run python -m tests.support.tables_document"
    assert DOCUMENT.read_text(encoding="utf-8") == whole(), advice


def test_the_queries_of_the_document_run(cursor):
    queries = [block.text for block in documents.blocks(GUIDE, "sql") if not block.note]
    assert queries
    for query in queries:
        cursor.execute(query)
        assert cursor.description is not None
        cursor.fetchall()


def test_views_show_what_the_api_does(cursor, client):
    get = client.get
    [newest] = get("/api/v1/transactions?limit=1").json["transactions"]
    columns = "block_number, from_address, to_address, value_wei::text"
    where = f"SELECT {columns} FROM v1.transactions WHERE hash_bytes = v1.bytes(%s)"  # noqa: S608
    cursor.execute(where, [newest["hash"]])
    keys = ("blockNumber", "fromAddress", "toAddress", "value")
    assert cursor.fetchall() == [tuple(newest[key] for key in keys)]
    for view in ("token_transfers", "dex_trades", "tokens", "blocks"):
        body = get(f"/api/v1/{view.replace('_', '-')}?limit=1").json
        cursor.execute(f"SELECT count(*) FROM v1.{view}")  # noqa: S608
        assert cursor.fetchone() == (body["total"],), view


@pytest.mark.parametrize(
    ("reason", "of_block", "of_transactions"),
    [
        (None, [], []),
        ("value of transactions of type 2", [], ["value"]),
        ("uncles", ["miningReward", "size"], []),
    ],
)
def test_views_name_what_nothing_proves(own_index, reason, of_block, of_transactions):
    connection = psycopg2.connect(own_index.url)
    with closing(connection), connection.cursor() as cursor:  # never committed
        cursor.execute("UPDATE blocks SET unproven = %s WHERE number = 1", [reason])
        cursor.execute("SELECT unproven::json FROM v1.blocks WHERE number = 1")
        assert cursor.fetchall() == [(of_block,)]
        cursor.execute("SELECT unproven::json FROM v1.transactions WHERE block_number = 1")
        assert {str(row[0]) for row in cursor.fetchall()} == {str(of_transactions)}


# Each amount of each view as it is shown, the number it is made of, and its decimals.
AMOUNTS = {
    "transactions.value_coin": "SELECT v.value_coin, t.value, 18"
    " FROM v1.transactions v JOIN transactions t USING (ordinal)",
    "transactions.fee_coin": "SELECT v.fee_coin, t.fee, 18"
    " FROM v1.transactions v JOIN transactions t USING (ordinal)",
    "internal_transfers.value_coin": "SELECT v.value_coin, i.value, 18"
    " FROM v1.internal_transfers v JOIN internal_transfers i USING (ordinal)",
    "token_transfers.amount": "SELECT v.amount, x.value, k.decimals"
    " FROM v1.token_transfers v JOIN token_transfers x USING (ordinal)"
    " JOIN tokens k ON k.address = x.token_address",
    "dex_trades.amount_in": "SELECT v.amount_in, d.amount_in, coalesce(k.decimals, 0)"
    " FROM v1.dex_trades v JOIN dex_trades d USING (ordinal)"
    " LEFT JOIN tokens k ON k.address = d.token_in",
    "dex_trades.amount_out": "SELECT v.amount_out, d.amount_out, coalesce(k.decimals, 0)"
    " FROM v1.dex_trades v JOIN dex_trades d USING (ordinal)"
    " LEFT JOIN tokens k ON k.address = d.token_out",
    "tokens.total_supply": "SELECT v.total_supply, token_supply(k), k.decimals"
    " FROM v1.tokens v JOIN tokens k ON k.address = v.address_bytes",
    "token_holders.balance": "SELECT v.balance, h.balance, k.decimals FROM v1.token_holders v"
    " JOIN token_holders h ON (h.token_address, h.holder) = (v.token_bytes, v.holder_bytes)"
    " JOIN tokens k ON k.address = h.token_address",
    "addresses.balance_coin": "SELECT v.balance_coin, a.balance, 18"
    " FROM v1.addresses v JOIN addresses a ON a.address = v.address_bytes",
    "daily_stats.fees_coin": "SELECT v.fees_coin, d.fees_wei, 18"
    " FROM v1.daily_stats v JOIN daily_stats d USING (day)",
    "daily_stats.burnt_coin": "SELECT v.burnt_coin, d.burnt_wei, 18"
    " FROM v1.daily_stats v JOIN daily_stats d USING (day)",
    "units": "SELECT v1.units(n, d), n, d"
    " FROM unnest(ARRAY[0, 1, 9, 10, 2::numeric ^ 256 - 1]) AS n, generate_series(0, 255) AS d",
}


@pytest.mark.parametrize("amount", AMOUNTS)
def test_amounts_of_views_have_all_digits(own_index, amount):
    rows = execute(own_index.url, AMOUNTS[amount])
    assert any(number for _, number, _ in rows)
    shown = [None if value is None else f"{value:f}" for value, _, _ in rows]
    with localcontext(prec=400):  # without zeros that say nothing
        assert shown == [
            None
            if None in (number, decimals)
            else f"{Decimal(int(number)).scaleb(-decimals).normalize():f}"
            for _, number, decimals in rows
        ]


@pytest.mark.check
def test_every_amount_of_a_view_is_compared():
    views = (ROOT / "scan/extensions/sql_access/sql/schema/views.sql").read_text(encoding="utf-8")
    named = {
        f"{view}.{column}"
        for view, body in re.findall(r"VIEW v1\.(\w+) AS\n(.*?);", views, re.S)
        for column in re.findall(r"v1\.units\(.*?\) AS (\w+)", body)
    }
    assert named == AMOUNTS.keys() - {"units"}


@pytest.mark.parametrize("table", sorted(LEFT_OUT - {"log_emitters", "list_checkpoints"}))
def test_the_role_reads_nothing_of_the_services_users(cursor, table):
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        cursor.execute(f"SELECT * FROM {table} LIMIT 1")  # noqa: S608


@pytest.mark.parametrize(
    "statement",
    [
        "SET default_transaction_read_only = off; DELETE FROM blocks",
        "SET default_transaction_read_only = off; CREATE TABLE t ()",
        "SELECT create_reading_role('x', 'x', '1s')",
        "SET default_transaction_read_only = off; CREATE TEMPORARY TABLE t ()",
        "SET default_transaction_read_only = off; CREATE SCHEMA s",
        "SET default_transaction_read_only = off; SELECT lo_create(0)",
        "SET default_transaction_read_only = off; SELECT lo_from_bytea(0, '')",
        "SELECT pg_advisory_lock(1)",
        "SELECT pg_notify('scan_chain', 'chain 9000000000000000000')",
        "SELECT pg_logical_emit_message(false, '', repeat('x', 1000000))",
        "SELECT pg_logical_emit_message(true, '', '\\x00'::bytea)",
        "SELECT pg_try_advisory_xact_lock_shared(1, 1)",
        "SET temp_file_limit = -1",
        "SELECT revoke_public_rights()",
        "ALTER ROLE analyst_of_tests CONNECTION LIMIT 100",
    ],
)
def test_the_role_changes_nothing(cursor, statement):
    with pytest.raises(
        (psycopg2.errors.InsufficientPrivilege, psycopg2.errors.ReadOnlySqlTransaction)
    ):
        for part in statement.split("; "):
            cursor.execute(part)
            cursor.connection.commit()


def test_the_role_has_four_connections_and_a_time_out(role, cursor):
    cursor.execute("SHOW statement_timeout")
    assert cursor.fetchone() == ("1min",)
    with ExitStack() as stack:
        for _ in range(3):
            stack.callback(psycopg2.connect(**role).close)
        with pytest.raises(psycopg2.OperationalError, match="too many connections"):
            psycopg2.connect(**role)


def test_sessions_that_lift_the_time_out_are_ended(own_index, role):
    """PostgreSQL lets a role lift it, also for all of its later sessions; a statement that catches
    being cancelled is ended, too."""
    administrator, name = own_index.url, role["user"]
    allowed = "COMMENT ON ROLE %s IS 'made by scan sql-role, statement_timeout=%s'"
    execute(administrator, allowed % (name, "500ms"))
    stubborn = """SET statement_timeout = 0; DO $$ BEGIN LOOP
        BEGIN PERFORM pg_sleep(60); EXCEPTION WHEN query_canceled THEN END; END LOOP; END $$"""
    database = Database(administrator, statement_timeout_ms=5_000)
    sessions = [psycopg2.connect(**role) for _ in range(3)]
    running, in_transaction, idle = sessions
    counts = []

    def are_ended():
        counts.append(end_sessions(database, grace_s=0.0))
        return sum(counts) >= 2

    try:
        idle.autocommit = True
        idle.cursor().execute("SET default_transaction_read_only = off")
        idle.cursor().execute(f"ALTER ROLE {name} SET statement_timeout = 0")
        in_transaction.cursor().execute("SELECT count(*) FROM blocks")
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(running.cursor().execute, stubborn)
            serving.wait_until(are_ended)
            with pytest.raises(psycopg2.OperationalError):
                ended.result(WAIT_S)
        with pytest.raises(psycopg2.OperationalError):
            in_transaction.cursor().execute("SELECT 1")
        idle.cursor().execute("SELECT 1")
        assert sum(counts) == 2
    finally:
        execute(administrator, allowed % (name, "60s"))
        execute(administrator, f"ALTER ROLE {name} SET statement_timeout = '60s'")
        database.close()
        for session in sessions:
            session.close()


@pytest.fixture
def owner(postgres):
    """A role that is no superuser, in a new database of another's; the superuser's URL."""
    with postgres.cloned("template0") as url:
        execute(url, "CREATE ROLE scan_of_tests LOGIN")
        execute(url, "GRANT USAGE, CREATE ON SCHEMA public TO scan_of_tests")
        yield make_dsn(url, user="scan_of_tests"), url
    administrator = postgres.url("postgres")
    for name in ("reader_of_tests", "scan_of_tests"):
        execute(administrator, f"DROP ROLE IF EXISTS {name}")


def test_what_the_role_of_the_service_may_not_do_is_said(owner):
    dsn, administrator = owner
    fields = parse_dsn(dsn)
    url = "postgresql://{user}@/{dbname}?host={0}".format(quote(fields["host"], safe=""), **fields)
    environment = {"DATABASE_URL": url}
    execute(administrator, "CREATE SCHEMA events AUTHORIZATION scan_of_tests")
    done = scan("migrate", **environment)
    assert done.returncode == 1
    assert "CREATE SCHEMA v1 AUTHORIZATION scan_of_tests" in done.stderr, done.stderr
    execute(administrator, "CREATE SCHEMA v1 AUTHORIZATION scan_of_tests")
    assert scan("migrate", **environment).returncode == 0
    done = scan("sql-role", "reader_of_tests", **environment)
    assert done.returncode == 1 and "ALTER ROLE scan_of_tests CREATEROLE" in done.stderr
    execute(administrator, "ALTER ROLE scan_of_tests CREATEROLE")
    done = scan("sql-role", "reader_of_tests", **environment)
    assert done.returncode == 0, done.stderr
    # Neither the database nor its locks are its own.
    assert done.stdout.count("warning: it may") == 2
    # As a member of the role it may end its sessions.
    assert execute(dsn, "SELECT pg_has_role('reader_of_tests', 'USAGE')") == [(True,)]
    execute(administrator, f"ALTER DATABASE {parse_dsn(dsn)['dbname']} OWNER TO scan_of_tests")
    done = scan("sql-role", "reader_of_tests", **environment)
    assert done.stdout.count("warning: it may") == 1 and "advisory" in done.stdout
    done = scan("sql-role", "reader_of_tests", DATABASE_URL=administrator)
    [[version]] = execute(dsn, "SHOW server_version_num")
    faults = server_faults.known_faults(int(version))
    warnings = [f"warning: {faults.text}; {faults.advice}"] if faults else []
    assert re.findall("^warning: .*", done.stdout, re.M) == warnings
    # The service's own role keeps what it needs.
    execute(dsn, "CREATE TEMPORARY TABLE t ()")
    execute(dsn, "SELECT pg_advisory_lock(1)")
    execute(dsn, "SELECT pg_notify('scan_chain', '')")
    assert scan("migrate", **environment).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        *(([name], 2) for name in ("", "Analyst", 'a"; DROP TABLE blocks; --', "a" * 40)),
        (["pg_monitor"], 2),
        (["analyst", "--statement-timeout", "0"], 2),
        (["postgres"], 1),  # which only the database knows to be another's
    ],
)
def test_unsuitable_names_are_refused(own_index, arguments, status):
    done = scan("sql-role", *arguments, DATABASE_URL=own_index.url)
    assert done.returncode == status and "password" not in done.stdout


@pytest.mark.thorough
def test_a_role_logs_in_with_the_printed_url_and_reads_the_views_alone():
    with embedded.data_folder() as folder, embedded.running_in(folder) as server:
        url = server.database_url("scan_1_00000000")
        migrations.run(Settings(database_url=url))
        done = scan("sql-role", "reader", DATABASE_URL=url)
        assert done.returncode == 0, done
        [as_role] = re.findall(r"^URL +(\S+)$", done.stdout, re.M)
        assert execute(as_role, "SELECT current_user::text") == [("reader",)]
        assert execute(as_role, "SELECT count(*) FROM v1.blocks") == [(0,)]
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            execute(as_role, "SELECT * FROM api_keys")
        with pytest.raises(psycopg2.OperationalError, match="password authentication failed"):
            execute(re.sub(r":\w+@", ":wrong@", as_role), "SELECT 1")


@pytest.mark.thorough
def test_a_role_that_cannot_log_in_is_named_with_what_is_missing(own_postgres):
    url = own_postgres.url("postgres")
    migrations.run(Settings(database_url=url))
    [(path,)] = execute(url, "SHOW hba_file")
    rules = (path := Path(str(path))).read_text()
    try:
        path.write_text(f"local all reader reject\n{rules}")
        execute(url, "SELECT pg_reload_conf()")
        done = scan("sql-role", "reader", DATABASE_URL=url)
    finally:
        path.write_text(rules)
        execute(url, "SELECT pg_reload_conf()")
    assert done.returncode == 1
    assert "warning: it cannot log in from here: " in done.stdout
    assert "pg_hba.conf needs a line: host all reader ADDRESS scram-sha-256" in done.stdout
