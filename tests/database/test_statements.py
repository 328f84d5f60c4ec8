"""The headers of sql/: declared and used parameters agree, and what they name is there."""

import re
from contextlib import closing
from datetime import UTC, datetime

import psycopg2
import pytest

from scan.database import lists, statements
from tests.support import extensions_document, statement_document
from tests.support.database import execute, insert
from tests.support.serving import ROOT

# Of files, and of what is rendered from templates.
TEXTS = {name: read() for name, read in statements.texts().items()}


@pytest.mark.check
def test_a_file_holds_one_statement():
    noted = re.compile(r"--[^\n]*|'[^']*'|\$\$.*\$\$", re.S)
    bodies = {statement: noted.sub("", text).strip() for statement, text in TEXTS.items()}
    several = [statement for statement, body in bodies.items() if ";" in body.removesuffix(";")]
    assert several == []


@pytest.mark.check
def test_a_header_fits_its_statement():
    """A process reads a statement when it first runs it, so no start would stop at it."""
    for name in TEXTS:
        statements.read_statement(name)


@pytest.mark.check
def test_something_runs_every_statement():
    """Python names it, or its entity where statements go by that; or its template."""
    templates = [
        path.name.removesuffix(".sql.j2")
        for folder in statements.all_folders()
        for path in folder.rglob("*.sql.j2")
    ]
    python = (path for folder in ("scan", "bench") for path in (ROOT / folder).rglob("*.py"))
    # The texts of Python, and of the declarations of owners' tables, that may name a statement.
    named = {
        text
        for path in [ROOT / "app.py", *python]
        for text in re.findall(r'"([^"\s]+)"', path.read_text(encoding="utf-8"))
    } | {
        table.get(key, "")
        for table in lists.read_table()["owners"].values()
        for key in ("after", "written", "restored")
    }

    def is_run(statement):
        stem = statement.partition("/")[2]
        entity = re.sub(r"_(list(_by_\w+)?|get_range|expect|compare|repair)$", "", stem)
        return not named.isdisjoint((statement, entity)) or any(
            re.fullmatch(re.sub(r"{\w+}", r"\\w+", template), stem)
            and any(
                re.fullmatch(r"\w+/" + re.sub(r"{\w+}", "{[^}]+}", template), text)
                for text in named
            )
            for template in templates
        )

    unused = [f"{name} is named nowhere in scan/ and bench/" for name in TEXTS if not is_run(name)]
    assert unused == []


@pytest.mark.check
def test_the_readme_lists_the_shapes_and_shows_one_list_as_it_is_rendered():
    text = statement_document.DOCUMENT.read_text(encoding="utf-8")
    core = {
        path.relative_to(statements.FOLDER).as_posix()
        for path in statements.FOLDER.rglob("*{*}*.j2")
    }
    assert {*re.findall(r"^\| `([\w/{}.]+)`", text, re.M)} == core
    # The record has a form for each interface that is there.
    assert text == statement_document.whole() or extensions_document.taken_away(), (
        "run python -m tests.support.statement_document"
    )


@pytest.mark.check
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT 1;", "has no header"),
        ("-- A purpose.\nSELECT 1;", "has no header"),
        ("-- A purpose.\n-- params: none\nSELECT %(a)s;", "declares [] but uses ['a']"),
        ("-- A purpose.\n-- params: a text\nSELECT 1;", "declares ['a'] but uses []"),
        ("-- A.\n-- params: a text\n-- literals: c\nSELECT %(a)s;", "no parameters"),
    ],
)
def test_a_header_that_does_not_fit_is_refused(tmp_path, text, reason):
    (tmp_path / "things_list.sql").write_text(text)
    with pytest.raises(statements.StatementError) as caught:
        statements.read_statement("things_list", tmp_path)
    assert str(caught.value).startswith("things_list") and reason in str(caught.value)


@pytest.mark.check
def test_filters_by_an_address_compare_parties():
    compared = {
        column
        for entity in lists.all_entities().values()
        for filter_ in entity.filters
        if filter_.kind in ("address", "pool")
        for column in re.findall(rf"\b{entity.alias}\.\w+", filter_.condition)
    }
    assert len(compared) > 20 or extensions_document.taken_away()
    assert compared <= {p for entity in lists.all_entities().values() for p in entity.parties}


@pytest.mark.check
def test_a_header_may_name_literals(tmp_path):
    text = "-- A.\n-- params: a text, b bigint\n-- literals: b\nSELECT %(a)s, %(b)s;\n"
    (tmp_path / "things_list.sql").write_text(text)
    assert statements.read_statement("things_list", tmp_path).literals == {"b"}
    (tmp_path / "things_list.sql").write_text(text.replace("literals: b", "literals: none"))
    statements.read_statement.cache_clear()
    assert statements.read_statement("things_list", tmp_path).literals == set()


def test_prepared_statements_read_no_table_that_grows_from_one_end_to_the_other(indexed):
    """Neither whole nor by an index whose entries are all compared, as where a partial index lacks
    the statement's condition. Those whose plan depends on values are held by tests of lists."""
    # Tables with few rows; and what is there to read whole ones, or a range that is all of the
    # blocks.
    small = set(
        "api_keys bodies_from bulk_backfill chain daily_stats deployment_names dexes filled_tables"
        " indexer_status event_views label_state listed_tokens pg_class retention schema_state"
        " stale_tokens verification_jobs verified_contracts webhooks".split()
    )
    read = {name: statements.read_statement(name) for name in TEXTS}
    prepared = {
        name: statement
        for name, statement in read.items()
        if statement.literals is not None and statement.literals <= {"limit", "sign"}
    }
    read_all = ("audit/", "bulk/", "queries/withdrawals_sum", "queries/contracts_list_most_called")
    held = {name: prepared[name] for name in prepared if not name.startswith(read_all)}
    assert len(held) > 100 and "indexer/addresses_derive" in held
    # With partitions.
    with closing(psycopg2.connect(indexed.url)) as opened, opened.cursor() as cursor:
        # As of large tables, whether or not these are analyzed by now; taken back at the end.
        cursor.execute("SET TRANSACTION READ WRITE")
        cursor.execute(
            "UPDATE pg_class SET relpages = 1,"
            " reltuples = CASE WHEN pg_relation_size(oid) > 0 THEN 1e7 ELSE -1 END"
            " WHERE relkind = 'r'"
        )
        for avoided in ("seqscan", "hashjoin", "mergejoin", "material"):
            cursor.execute(f"SET enable_{avoided} = off")
        cursor.execute(
            "SELECT p.relname, w.relname FROM pg_inherits i"
            " JOIN pg_class p ON p.oid = i.inhrelid JOIN pg_class w ON w.oid = i.inhparent"
        )
        tables = dict(cursor.fetchall())
        plans = {name: generic_plan(cursor, statement) for name, statement in held.items()}
    whole = [
        (name, tables.get(node["Relation Name"], node["Relation Name"]), node.get("Filter"))
        for name, plan in plans.items()
        for node in nodes_of(plan)
        if "Relation Name" in node
        if node["Node Type"] == "Seq Scan"
        or ("Index Name" in node and "Index Cond" not in node and "Filter" in node)
    ]
    offenders = [str(row) for row in whole if row[1] not in small]
    assert offenders == []


def generic_plan(cursor, statement):
    cursor.execute(f"EXPLAIN (GENERIC_PLAN, FORMAT JSON) {numbered(statement)}")
    return cursor.fetchone()[0][0]["Plan"]


def numbered(statement):
    """The text of a statement with $1, $2, … of the types that its header declares."""
    text = statement.text.replace("%%", "%")
    for number, (param, type_) in enumerate(statement.types.items(), 1):
        value = "NULL" if type_ == "identifiers" else f"${number}::{type_.partition(' null')[0]}"
        text = text.replace(f"%({param})s", value)
    return text


# They make what others read, and last until the transaction ends.
BEGUN = ("audit/copies_create", "commands/signatures_begin_import", "database/owners_lines_create")
# DuckDB's, and what PostgreSQL plans no more than those.
NOT_PLANNED = re.compile(
    rf"bulk/|parquet_export/|({'|'.join(BEGUN)}|database/(indexes_attach|schema_version_put)"
    r"|indexer/(planner_discard_plans|retention_create_index)|queries/past_holders_fetch)$"
)
# Stands in for pg_trgm where the server does not have it.
SIMILARITY = """
    CREATE SCHEMA similarity;
    CREATE FUNCTION similarity.distance(text, text) RETURNS real LANGUAGE sql RETURN 0;
    CREATE OPERATOR similarity.<-> (
        FUNCTION = similarity.distance, LEFTARG = text, RIGHTARG = text
    );
    SET search_path TO public, similarity
"""


@pytest.mark.parametrize(
    "server", ["database_url", pytest.param("oldest_database_url", marks=pytest.mark.thorough)]
)
def test_every_statement_fits_the_schema(request, server):
    """Also those that run seldom, of faults of their own or of a column that was renamed; and on
    the oldest PostgreSQL that Scan takes, which lacks functions of newer ones."""
    names = [name for name in TEXTS if not NOT_PLANNED.match(name)]

    def refusal(cursor, statement):
        """The error by which the server refuses to plan a statement, or None."""
        cursor.execute("SAVEPOINT before")
        try:
            generic_plan(cursor, statement)
        except psycopg2.Error as error:
            cursor.execute("ROLLBACK TO before")
            return error
        return None

    url = request.getfixturevalue(server)
    with closing(psycopg2.connect(url)) as opened, opened.cursor() as cursor:
        cursor.execute(SIMILARITY)
        for name in TEXTS.keys() & {*BEGUN}:
            cursor.execute(numbered(statements.read_statement(name)))
        refusals = {name: refusal(cursor, statements.read_statement(name)) for name in names}
    unfit = [f"{name}: {error}" for name, error in refusals.items() if error is not None]
    assert unfit == []
    assert len(names) > 100


def nodes_of(plan):
    yield plan
    for part in plan.get("Plans", ()):
        yield from nodes_of(part)


def test_no_subselect_is_computed_for_one_row_alone(database_url):
    """PostgreSQL (18.4) computes a subselect once for all rows where a scan has it that is below
    the row's join: it was moved there from the node of a partitioned table with one partition."""
    names = [name for name in TEXTS if not NOT_PLANNED.match(name)]
    with closing(psycopg2.connect(database_url)) as opened, opened.cursor() as cursor:
        cursor.execute(SIMILARITY)
        cursor.execute(
            "SELECT relname FROM pg_class"
            " WHERE relkind = 'p' AND oid NOT IN (SELECT inhparent FROM pg_inherits)"
        )
        for (table,) in cursor.fetchall():
            cursor.execute(f"CREATE TABLE only_{table} PARTITION OF {table} DEFAULT")
        cursor.execute("SET enable_seqscan = off")
        for name in TEXTS.keys() & {*BEGUN}:
            cursor.execute(numbered(statements.read_statement(name)))
        plans = {name: generic_plan(cursor, statements.read_statement(name)) for name in names}

    def is_correlated(plan):
        """Whether conditions in it name what is outside of it."""
        kinds = "Index Cond", "Filter", "Recheck Cond", "Join Filter", "One-Time Filter"
        nodes = [*nodes_of(plan)]
        conditions = [value for node in nodes for key, value in node.items() if key in kinds]
        named = re.findall(r"\b(\w+)\.\w", " ".join(conditions))
        return not {node.get("Alias") for node in nodes}.issuperset(named)

    computed_once = [
        f"{name}: {scan['Alias']}"
        for name, plan in plans.items()
        for scan in nodes_of(plan)
        for part in scan.get("Plans", ())
        if part["Parent Relationship"] == "InitPlan"
        and scan.get("Parent Relationship", "SubPlan") != "SubPlan"
        and "Relation Name" in scan
        and is_correlated(part)
    ]
    assert computed_once == []


def test_a_statement_is_prepared_where_its_header_has_literals(database, database_url):
    database.row("http/chain_get_version")
    database.row("queries/blocks_get_hash", number=1)
    database.execute_script("CREATE TABLE prepared AS SELECT statement FROM pg_prepared_statements")
    [(prepared,)] = execute(database_url, "SELECT statement FROM prepared")
    assert statements.read_statement("queries/blocks_get_hash").text.partition("%")[0] in prepared


@pytest.mark.parametrize(
    ("type_", "value"),
    [
        (type_, value)
        for type_, values in {
            "bytea[]": [[], [b""], [b"\\,{}'\"\0\xff", b"NULL"], [b"a", None]],
            "bigint[]": [[], [0, -(2**63), 2**63 - 1], [None, 1]],
            "text[]": [[], ["{}", "\\x00", "a,b", 'NULL"', "%s"]],
            "boolean[]": [[True, False]],
        }.items()
        for value in values
    ],
)
def test_prepared_statements_take_arrays_as_they_are(database_url, tmp_path, type_, value):
    text = f"-- A.\n-- params: a {type_}\n-- literals: none\nSELECT %(a)s;\n"
    (tmp_path / "things_get.sql").write_text(text)
    statement, params = statements.read_statement("things_get", tmp_path), {"a": value}
    statements.read_statement.cache_clear()
    with closing(psycopg2.connect(database_url)) as opened, opened.cursor() as cursor:
        prepared = statements.prepare(cursor, statement, params, "things")
        cursor.execute(prepared.execute, prepared.values(params))
        [(read,)] = cursor.fetchall()
    assert [bytes(one) if isinstance(one, memoryview) else one for one in read] == value


@pytest.mark.parametrize("params", [{}, {"number": 1, "hash": None, "more": 1}])
def test_a_call_with_other_parameters_is_refused(database, params):
    with pytest.raises(statements.StatementError):
        database.rows("queries/blocks_get", **params)


def test_the_interval_of_blocks_is_of_the_newest_hundred(database_url):
    """The newest one came 62 s after the block before it, all others 12 s after each other."""
    for number, seconds in enumerate([*range(0, 1200, 12), 1250], 1):
        at = datetime.fromtimestamp(1_700_000_000 + seconds, UTC)
        insert(database_url, "blocks", number=number, hash=bytes([number]) * 32, timestamp=at)
    [(interval_s,)] = execute(database_url, "SELECT block_interval_s()")
    assert float(interval_s) == pytest.approx((98 * 12 + 62) / 99)
