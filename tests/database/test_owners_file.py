"""Files of what people gave: every table is declared, and every older file is restored."""

import re
from contextlib import closing

import orjson
import pytest

from scan.database import owners_file
from scan.database.connection import Database
from scan.database.migrations import read_schema
from scan.database.owners_file import OwnersFileError
from tests.support.database import execute, insert
from tests.support.owners_rows import (
    BODY,
    FILES,
    HASH,
    NEWEST,
    OWNER,
    changed_file,
    fill_owners,
    rows,
)


def write(url, path):
    with closing(Database(url, statement_timeout_ms=0)) as database:
        return owners_file.write(database, path)


def restore(url, path, **options):
    with closing(Database(url, statement_timeout_ms=0)) as database:
        return owners_file.restore(database, owners_file.read(path), **options)


def add_chain(url, chain_id, newest):
    insert(url, "chain", chain_id=chain_id, genesis_hash=HASH)
    insert(url, "blocks", number=newest)


@pytest.mark.check
def test_every_table_is_derived_or_of_owners():
    owned, table = owners_file.owned_tables(), owners_file.read_table()
    names = {*re.findall(r"^CREATE TABLE IF NOT EXISTS (\w+) \(", read_schema(), re.M)}
    derived = {*table["derived"], *owners_file.all_entities()}
    assert names == owned.keys() | derived
    assert not owned.keys() & derived
    assert not names & {*table["former"]}


def test_columns_that_are_left_out_are_there_and_former_ones_are_not(database_url):
    owned = owners_file.owned_tables()
    sql = "SELECT table_name, column_name FROM information_schema.columns"
    columns = {*execute(database_url, sql)}
    assert {(table, name) for table, of in owned.items() for name in of.left_out} <= columns
    assert not {(table, name) for table, of in owned.items() for name in of.former} & columns


def test_all_rows_are_restored_once(database_url, clone, template, tmp_path):
    def without_blocks(stored):
        """Without the columns of webhooks that are set as they are restored."""
        hooks = [orjson.loads(text) | {"first_block": 0} for (text,) in stored["webhooks"]]
        queues = [orjson.loads(text) | {"fresh_block": 0} for (text,) in stored["delivery_queues"]]
        return stored | {"webhooks": hooks, "delivery_queues": queues}

    other_url = clone(template)
    fill_owners(database_url)
    expected = rows(database_url)
    assert all(expected.values())
    count, unknown = write(database_url, tmp_path / "file")
    assert (count, unknown) == (sum(map(len, expected.values())), [])
    restored = restore(other_url, tmp_path / "file")
    assert all(table.inserted == table.rows for table in restored)
    assert sum(table.rows for table in restored) == count
    once = rows(other_url, with_left_out=True)
    assert without_blocks(rows(other_url)) == without_blocks(expected)
    again = restore(other_url, tmp_path / "file")
    assert [table.inserted for table in again] == [0] * len(restored)
    assert rows(other_url, with_left_out=True) == once
    write(other_url, tmp_path / "again")
    assert lines(tmp_path / "again").keys() == lines(tmp_path / "file").keys()


def lines(path):
    _, *stored, _ = path.read_bytes().splitlines()
    return {orjson.loads(line)["table"]: line for line in stored}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_file_of_each_version_is_restored_whole(path, database_url):
    restored = restore(database_url, path)
    assert all(table.inserted == table.rows >= 1 for table in restored)
    assert {table.name for table in restored} == lines(path).keys()
    [(text, abi)] = execute(
        database_url, "SELECT sources->'C.sol'->>'content', abi::text FROM verified_contracts"
    )
    assert text == 'contract C {} // \\ " \t é\n'
    assert abi == '[{"b":1,"a":2}]'
    assert execute(database_url, "SELECT secret FROM webhook_secrets") == [("secret",)]
    assert execute(database_url, "SELECT label FROM labels") == [('a label\nwith\ttwo \\ "lines"',)]
    assert execute(database_url, "SELECT requests_per_minute FROM api_keys") == [(77,)]
    due = execute(database_url, "SELECT address FROM restored_sources WHERE reason IS NULL")
    assert [bytes(address) for (address,) in due] == [OWNER]


QUEUE = """SELECT first_block, fresh_block, pending_count, pending_bytes
    FROM webhooks JOIN delivery_queues ON webhook_id = id"""


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if b'"deliveries"' not in path.read_bytes()],
    ids=lambda path: path.stem,
)
def test_a_file_without_deliveries_names_the_first_block_that_was_not_sent(path, database_url):
    restore(database_url, path)
    assert execute(database_url, QUEUE) == [(9, None, 0, 0)]


def test_waiting_deliveries_wait_again_and_events_go_on_after_the_files_block(database_url):
    restore(database_url, NEWEST)
    assert execute(database_url, QUEUE) == [(13, 9, 1, len(BODY))]
    bodies = "SELECT d.status, delivery_body(d) FROM deliveries d ORDER BY d.id"
    assert execute(database_url, bodies) == [("pending", BODY), ("delivered", BODY)]
    execute(database_url, "DELETE FROM deliveries")
    assert execute(database_url, "SELECT count(*) FROM event_bodies") == [(0,)]


def test_deliveries_of_webhooks_that_are_there_are_not_restored_again(database_url):
    """They may have been sent since, and swept."""
    restore(database_url, NEWEST)
    execute(database_url, "DELETE FROM deliveries")
    again = {table.name: table for table in restore(database_url, NEWEST)}
    assert (again["deliveries"].rows, again["deliveries"].inserted) == (2, 0)
    assert execute(database_url, "SELECT count(*) FROM event_bodies") == [(0,)]


def test_the_newest_file_has_every_table():
    assert lines(NEWEST).keys() == owners_file.owned_tables().keys()


def test_what_is_not_whole_is_refused_before_anything_is_written(database_url, tmp_path):
    whole, path = NEWEST.read_bytes(), tmp_path / "file"
    changed = whole.replace(b'"a label', b'"b label')
    parts = [whole[: int(len(whole) * part)] for part in (0.2, 0.5, 0.99)]
    first_lines = whole[: whole.rindex(b'{"table"')], whole[: whole.rindex(b'{"rows"')]
    doubled = whole.replace(b"\n", b"\n\n", 1)
    for content in (*parts, *first_lines, changed, doubled, whole + b"\n", whole[:-1] + b" \n"):
        path.write_bytes(content)
        with pytest.raises(OwnersFileError, match="is not whole: it was cut or changed"):
            restore(database_url, path)
    for content in (b"", b"PGDMP", b"[]\n", whole[whole.index(b"\n") + 1 :]):
        path.write_bytes(content)
        with pytest.raises(OwnersFileError, match="was not written by `scan backup --owners`"):
            restore(database_url, path)
    path.write_bytes(whole.replace(b'"format":1', b'"format":2'))
    with pytest.raises(OwnersFileError, match="has the format 2, written by Scan"):
        restore(database_url, path)
    with pytest.raises(OwnersFileError, match=r"cannot read .*: No such file or directory"):
        restore(database_url, tmp_path / "absent")
    assert not any(rows(database_url).values())


def test_another_chain_is_refused(database_url):
    add_chain(database_url, 1, 0)
    with pytest.raises(OwnersFileError, match="31337, and this database of the chain 1;"):
        restore(database_url, NEWEST)
    assert not any(rows(database_url).values())


def test_what_a_version_does_not_know_is_named_and_left_out_only_where_that_is_wanted(
    database_url, tmp_path
):
    def newer(line):
        table, row = line["table"], line["row"]
        if table == "labels":
            row |= {"colour": "red"}
        return {"table": "memos" if table == "signatures" else table, "row": row}

    path = changed_file(tmp_path / "file", newer)
    with pytest.raises(OwnersFileError, match=r"does not know: labels\.colour, memos\. Nothing"):
        restore(database_url, path)
    assert not any(rows(database_url).values())
    restored = {table.name: table for table in restore(database_url, path, leaves_out_unknown=True)}
    assert restored["labels"].inserted == 1 and "signatures" not in restored


def test_a_row_that_does_not_fit_restores_nothing(database_url, tmp_path):
    def wrong(line):
        if line["table"] == "followed_contracts":
            line["row"]["name"] = "No name"
        return line

    with pytest.raises(OwnersFileError, match=r"followed_contracts cannot be restored: .*check"):
        restore(database_url, changed_file(tmp_path / "file", wrong))
    assert not any(rows(database_url).values())


def test_tables_that_a_version_does_not_know_are_named_when_it_writes(database_url, tmp_path):
    execute(database_url, "CREATE TABLE memos AS SELECT 1 AS number")
    execute(database_url, "CREATE TABLE empty_memos (number integer)")
    fill_owners(database_url)
    assert write(database_url, tmp_path / "file")[1] == ["memos"]


def test_followed_contracts_are_followed_from_the_next_block(database_url):
    add_chain(database_url, 31337, 40)
    restore(database_url, NEWEST)
    followed = "SELECT complete_from, abi_digest FROM followed_contracts"
    assert execute(database_url, followed) == [(41, None)]
    assert execute(database_url, "SELECT followed_version FROM chain") == [(1,)]
