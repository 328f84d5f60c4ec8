"""Reads of partitioned tables, those of scan.extensions.history among them: the same answers as
without partitions, few of which are opened."""

import re
from dataclasses import replace

import pytest

from bench.cases import HOT, address_of
from bench.seed import seed
from scan.extensions.exports.list_files import FileBounds
from tests.support import explain, partitions
from tests.support.database import execute
from tests.support.indexing import settings_for, sources
from tests.support.serving import NOWHERE
from tests.support.watched_database import watched

pytestmark = pytest.mark.thorough

TRANSACTIONS = 20_000
PARTITIONS = 20
LIMIT = 25


def prepared(plan, table):
    """The partitions of a table that PostgreSQL prepared to read."""
    names = {n["Relation Name"] for n in plan.nodes if "Relation Name" in n}
    return {name for name in names if name.startswith(f"{table}_")}


@pytest.fixture(scope="module")
def sides(postgres, template):
    with postgres.cloned(template) as url, postgres.cloned("template0") as partitioned_url:
        seed(url, TRANSACTIONS, internal_transfers=True, logs=True)
        partitions.partition(url, partitioned_url, PARTITIONS)
        with explain.explained(url) as plain, explain.explained(partitioned_url) as partitioned:
            yield plain, partitioned


def history(sides, query, address=HOT):
    """The same page of both, and the plan that partitions have."""
    path = f"/api/v1/addresses/{address}/history?{query}"
    (_, one), (plans, other) = (side.plans(path) for side in sides)
    assert one == other
    return one, plans[-1]


def test_a_page_of_a_long_list_reads_three_partitions_at_most(sides):
    """Of 20; where it stands is known from a checkpoint."""
    _, partitioned = sides
    own = re.compile(rf"({'|'.join(partitions.TABLES)})_\d+")
    body = {"entity": "transactions", "filter": {"address": HOT}, "limit": LIMIT}
    _, page = partitioned.plans("/api/v1/query", body)
    for offset in (0, page["total"] // 2, page["total"] - LIMIT):
        [plan], _ = partitioned.plans("/api/v1/query", {**body, "offset": offset})
        read = {node.get("Relation Name", "") for node in plan.nodes if node["Actual Loops"]}
        assert 1 <= len([*filter(own.fullmatch, read)]) <= 3


def test_a_range_of_blocks_by_several_keys_is_planned_for_its_partitions_alone(sides):
    _, partitioned = sides
    filters = {"address": HOT, "status": True, "blockFrom": 90, "blockTo": 110}
    body = {"entity": "transactions", "filter": filters, "limit": LIMIT}
    [*_, plan], _ = partitioned.plans("/api/v1/query", body)
    assert plan.statement == "queries/transactions_by_address_list_by_filters"
    assert 1 <= len(prepared(plan, "transactions")) <= 4


def test_history_opens_no_partition_for_lists_without_entries(sides):
    """Of an address that is not indexed, and of one that only ever sent transactions."""
    plain, _ = sides
    [(sender,)] = execute(
        plain.url,
        "SELECT hex(address) FROM addresses WHERE sent_count > 0 AND transfer_count = 0"
        " AND internal_sent_count = 0 AND internal_received_count = 0 LIMIT 1",
    )
    for address, read in (("0x" + "ab" * 20, ()), (str(sender), ("transactions",))):
        _, plan = history(sides, "", address)
        for table in ("internal_transfers", "token_transfers", *read):
            assert bool(prepared(plan, table)) is (table in read)


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_history_of_a_busy_address_opens_the_partitions_of_its_page(sides, order):
    """Those where checkpoints say that enough of each list is; from page to page. It is whole
    beyond them; of one type alone, a page goes from one checkpoint of its list to the next."""
    cursor = ""
    for _ in range(3):
        page, plan = history(sides, f"orderBy={order}&limit={LIMIT}{cursor}")
        assert plan.statement == "queries/history_list"
        for table in ("transactions", "internal_transfers", "token_transfers"):
            assert 1 <= len(prepared(plan, table)) <= 8
        cursor = f"&cursor={page['next']}"
    of_lists = ("transaction", "fee", "internal_transfer", "token_transfer")  # types of history
    for types, pages in (("", 8), *((f"&types={type_}", 3) for type_ in of_lists)):
        cursor = ""
        for _ in range(pages):
            page, _ = history(sides, f"orderBy={order}&limit=100{types}{cursor}")
            cursor = f"&cursor={page['next']}" if page["next"] else ""
    beyond, _ = history(sides, f"orderBy={order}&blockFrom=1000000000")
    assert beyond["history"] == []


@pytest.mark.parametrize("order", ["asc", "desc"])
def test_history_goes_by_the_checkpoints_of_its_own_lists(sides, order):
    """Beside each stand one of another address and one of another list, which would hide rows."""
    _, partitioned = sides
    execute(
        partitioned.url,
        "INSERT INTO list_checkpoints (list, key, place, ordinal, block_number)"
        " SELECT other.list, other.key, k.place + beside.step, beside.ordinal, k.block_number"
        " FROM list_checkpoints k"
        " CROSS JOIN LATERAL (VALUES (k.list, %s), ('other', k.key)) AS other (list, key)"
        " CROSS JOIN (VALUES (-1, 0), (1, 1000000)) AS beside (step, ordinal)"
        " WHERE k.key = %s"
        " ON CONFLICT DO NOTHING",
        bytes(20),
        bytes.fromhex(HOT[2:]),
    )
    try:
        page, _ = history(sides, f"orderBy={order}&limit=100")
    finally:
        execute(partitioned.url, "DELETE FROM list_checkpoints WHERE mod(place, 128) <> 0")
    assert len(page["history"]) == 100


@pytest.mark.parametrize("order", ["asc", "desc"])
@pytest.mark.parametrize(
    ("statement", "path"),
    [
        ("queries/transactions_get_bounds", f"/transactions?address={HOT}&status=true"),
        (
            "queries/internal_transfers_get_bounds",
            f"/addresses/{HOT}/internal?counterparty={address_of('person', 1)}",
        ),
        ("queries/history_get_bounds", f"/addresses/{HOT}/history?"),
    ],
)
def test_bounds_of_an_older_state_are_not_used(sides, statement, path, order):
    """The index changes after the bounds were read: the list is read anew, without them."""
    _, partitioned = sides
    pages = f"/api/v1{path}&limit=2&orderBy={order}"
    cursor = partitioned.client.get(pages).json["next"]
    second = f"{pages}&cursor={cursor}"
    expected = partitioned.client.get(second).json
    changed = []

    def outdated(name, params, rows):
        if name != statement:
            return rows
        [(version, *values)] = rows
        lowest, highest = values[-2:]
        nothing = ([0] * len(lowest), [0] * len(highest)) if isinstance(lowest, list) else (0, 0)
        changed.append(name)
        return [(version - 1, *values[:-2], *nothing)]

    with watched(settings_for(partitioned.url, NOWHERE), outdated) as client:
        assert client.get(second).json == expected
    assert changed


@pytest.mark.parametrize(
    ("type_", "table", "counter"),
    [
        ("fee", "transactions", "coin_received_count"),
        ("internal_transfer", "internal_transfers", "internal_received_count"),
        ("token_transfer", "token_transfers", "transfer_received_count"),
    ],
)
def test_a_page_of_history_reaches_the_checkpoint_that_bounds_it(
    sides, tmp_path, monkeypatch, type_, table, counter
):
    """Pages of a file, the second of which ends two entries before a checkpoint of its one list:
    HOT has received nothing of a table, whose rows are in the list of what it sent."""
    hot, another = bytes.fromhex(HOT[2:]), b"\xee" * 20
    give = f"UPDATE {table} SET to_address = %s WHERE to_address = %s"  # noqa: S608
    count = f"UPDATE addresses SET {counter} = %s WHERE address = %s"  # noqa: S608
    read = f"SELECT {counter} FROM addresses WHERE address = %s"  # noqa: S608
    path = f"/api/v1/addresses/{HOT}/history?orderBy=asc&types={type_}&format=ndjson"
    files = []
    for side in sides:
        services = side.client.application.extensions["scan"]
        kept_here = replace(services, settings=replace(services.settings, data_dir=tmp_path))
        monkeypatch.setitem(side.client.application.extensions, "scan", kept_here)
        bounds = sources(side.client).get(FileBounds)
        bounds.page_rows, bounds.rows = 127, 254
        [(received,)] = execute(side.url, read, hot)
        execute(side.url, give, another, hot)
        execute(side.url, count, 0, hot)
        try:
            files.append(side.client.get(path, buffered=True).data.splitlines())
        finally:
            execute(side.url, give, hot, another)
            execute(side.url, count, received, hot)
    assert files[0] == files[1] and len(files[0]) == 254
