"""Every list of sql/lists.toml of an entity of few rows: pages by each filter and by every two,
whose ends are compared with a loop. Other entities are those of test_filters.

No node has these rows: they are written into their tables, and the audit counts their lists.
"""

import json
import random
import re
from collections import Counter, namedtuple
from itertools import permutations
from urllib.parse import urlsplit

import pytest
from eth_utils import keccak

from scan.database.connection import Database
from scan.ethereum import column_types, sparse_tables
from scan.extensions.retention.tests.removal import remove
from scan.indexer.block_rows import TABLES
from scan.queries.filter_values import FILTER_KEYS, FILTERS
from tests.support import auditing, brute_force
from tests.support.database import execute, insert, use_short_checkpoints
from tests.support.indexing import client_over, settings_for
from tests.support.made_blocks import Chain, Move, address

BLOCKS, ROWS_OF_BLOCK = 16, 3
DISTANCE = 8  # of checkpoints
FIRST_KEPT = BLOCKS // 2
NOBODY = "http://127.0.0.1:9"
ADDRESSES = ["0x" + address(name).hex() for name in ("one", "two", "three")]
KEPT = ADDRESSES[2]  # the chain's transactions are from one to two
HASHES = ["0x01" + 62 * "1", "0x01" + 62 * "2"]
TEXTS = {text: "0x" + keccak(text=text).hex() for text in ("Invoice 7", "one, two & three")}
# What a column may hold that a filter of a kind compares.
OF_KIND = {
    "address": ADDRESSES,
    "hash": HASHES,
    "flag": [True, False],
    "pubkey": ["0x" + 96 * "1", "0x" + 96 * "2"],
    "text": [*TEXTS],
}
# What other columns hold, by the name of their type.
OF_TYPE = {
    **dict.fromkeys(("bigint", "integer", "smallint", "uint256"), 0),
    "address": ADDRESSES[0],
    "hash": HASHES[0],
    "bytes": "0x" + 400 * "0",
    "unsigned": "0x01",
    "boolean": False,
    "text": "",
}
# Filters of columns that follow from other rows.
DERIVED = {"valid"}


RECORDS = {name: table.columns for name, table in TABLES.items() if name in FILTERS}
RECORDS["contract_creations"] = column_types.annotated_columns(sparse_tables.ContractCreation)
# By entity of few rows: the column that each of its filters compares.
COLUMNS = {
    entity: {
        filter_.key: match[1]
        for filter_ in FILTERS[entity]
        if (match := re.fullmatch(r"\w+\.(\w+) = %\(\w+\)s", filter_.condition))
        and filter_.key not in DERIVED
    }
    for entity in RECORDS
}


def kinds_of(entity):
    return {filter_.kind for filter_ in FILTERS[entity] if filter_.key in COLUMNS[entity]}


class Listed(namedtuple("Listed", "client kept keeping rows")):
    """`kept` is of an index without the rows before FIRST_KEPT, `keeping` of one that has those of
    the transactions of KEPT; `rows` are those of each entity, newest first."""


@pytest.fixture(scope="module")
def listed(postgres, template):
    """One row of each entity in each transaction of a chain whose first block is empty."""
    with postgres.cloned(template) as url:
        use_short_checkpoints(url, DISTANCE)
        made, rows = make_chain(url), {}
        for entity in COLUMNS:
            values = values_of_filters(entity)
            rows[entity] = [{**row, **chosen(entity, n, values)} for n, row in enumerate(made)]
            store(url, entity, rows[entity][::-1])
        auditing.run(settings_for(url, NOBODY), repair=True)
        made = urlsplit(url).path[1:]
        with postgres.cloned(made) as kept_url, postgres.cloned(made) as keeping_url:
            insert(keeping_url, "kept_addresses", address=bytes.fromhex(KEPT[2:]))
            for removed_url in (kept_url, keeping_url):
                remove(removed_url, FIRST_KEPT)
            yield Listed(*(client_over(u) for u in (url, kept_url, keeping_url)), rows)


def make_chain(url):
    """The transactions of each block but the first, newest first."""
    database = Database(url, statement_timeout_ms=10_000)
    chain = Chain(database)
    chain.append()
    made = []
    for block in range(1, BLOCKS):
        moves = [Move(address("one"), address("two"))] * ROWS_OF_BLOCK
        for hash_ in chain.append(moves, is_traced=True):
            names = dict.fromkeys(("transaction", "transactionHash"), "0x" + hash_.hex())
            made.insert(0, {**names, "blockNumber": block})
    database.close()
    return made


def chosen(seed, number, values):
    """One of the values of each name, of which the first are rare."""
    chance = random.Random(f"{seed} {number}")
    return {
        name: chance.choices(choice, [3**exponent for exponent in range(len(choice))])[0]
        for name, choice in values.items()
    }


def values_of_filters(entity):
    """What the column of each filter may hold, as clients give it."""
    return {
        filter_.key: [
            *([None] if RECORDS[entity][COLUMNS[entity][filter_.key]].is_nullable else []),
            *(filter_.choices or OF_KIND[filter_.kind]),
        ]
        for filter_ in FILTERS[entity]
        if filter_.key in COLUMNS[entity]
    }


def store(url, entity, rows):
    required = {
        name: OF_TYPE[column.type.name]
        for name, column in RECORDS[entity].items()
        if not column.is_nullable
    }
    choices = {
        (filter_.key, name): f"0x{value}"
        for filter_ in FILTERS[entity]
        for name, value in filter_.choices.items()
    }
    choices |= {("text", text): hash_ for text, hash_ in TEXTS.items()}
    stored = []
    for number, row in enumerate(rows):
        index = number % ROWS_OF_BLOCK
        columns = COLUMNS[entity].items()
        stored.append(
            {
                **required,
                **{column: choices.get((key, row[key]), row[key]) for key, column in columns},
                "block_number": row["blockNumber"],
                "transaction_index": index,
                **dict.fromkeys(("log_index", "authorization_index", "blob_index"), index),
                "ordinal": (row["blockNumber"] << 20) + index,
            }
        )
    insert = f"INSERT INTO {entity} SELECT * FROM jsonb_populate_recordset(null::{entity}, %s)"  # noqa: S608
    execute(url, insert, json.dumps(stored).replace('"0x', r'"\\x'))


@pytest.mark.parametrize("entity", COLUMNS)
def test_every_page_by_each_filter(listed, entity):
    rows = listed.rows[entity]
    require_pages(listed.client, entity, {}, rows)
    for key, value, matching in by_one_filter(entity, rows):
        require_pages(listed.client, entity, {key: value}, matching)


@pytest.mark.parametrize("entity", COLUMNS)
def test_lists_begin_with_the_rows_that_are_kept(listed, entity):
    kept = [row for row in listed.rows[entity] if row["blockNumber"] >= FIRST_KEPT]
    uncounted = {"success", "transaction"}
    for key, value, matching in by_one_filter(entity, kept, left_out=uncounted):
        expected = [row["transactionHash"] for row in matching]
        rest = read(listed.kept, entity, len(expected), {key: value}, limit=100)
        assert rest == (expected, None)


@pytest.mark.parametrize("entity", [e for e in COLUMNS if "address" in kinds_of(e)])
def test_lists_of_a_kept_address_have_all_rows(listed, entity):
    rows = listed.rows[entity]
    of_kept = [key for key, value, _ in by_one_filter(entity, rows) if value == KEPT]
    assert of_kept
    for key in of_kept:
        matching = [row for row in rows if row[key] == KEPT]
        require_pages(listed.keeping, entity, {key: KEPT}, matching)


def keys_of(entity):
    return [key for key in FILTER_KEYS[entity] if key in (*COLUMNS[entity], "transaction")]


@pytest.mark.thorough
@pytest.mark.parametrize("entity", [entity for entity in COLUMNS if len(keys_of(entity)) > 1])
def test_every_page_by_two_filters(listed, entity):
    """Rows are read from the list with the fewest entries."""
    rows = listed.rows[entity]
    lengths = {key: Counter(row[key] for row in rows) for key in keys_of(entity)}
    # As many rows of the shorter list as can be lack the other value.
    lacking_by_keys = {
        (short, long): {
            (one, other): lengths[short][one] - count
            for (one, other), count in Counter((row[short], row[long]) for row in rows).items()
            if None not in (one, other) and lengths[short][one] <= lengths[long][other]
        }
        for short, long in permutations(lengths, 2)
    }
    compared = {keys: lacking for keys, lacking in lacking_by_keys.items() if lacking}
    assert compared
    for (short, long), lacking in compared.items():
        filters = dict(zip((short, long), max(lacking, key=lacking.__getitem__), strict=True))
        matching = [row for row in rows if filters.items() <= row.items()]
        with brute_force.without_bounds():
            require_pages(listed.client, entity, filters, matching)


def by_one_filter(entity, rows, left_out=frozenset()):
    """The two values of each filter that most rows have, and these rows."""
    for key in (key for key in keys_of(entity) if key not in left_out):
        lengths = Counter(row[key] for row in rows if row[key] is not None)
        for value in sorted(lengths, key=lengths.__getitem__)[-2:]:
            yield key, value, [row for row in rows if row[key] == value]


def require_pages(client, entity, filters, rows):
    """In both orders, in a range of blocks and, by one filter, whole: by offset and by cursor."""
    is_counted = len(filters) < 2 and filters.keys().isdisjoint({"success", "transaction"})
    filters = {k: str(v).lower() if isinstance(v, bool) else v for k, v in filters.items()}
    for blocks in ({}, {"blockFrom": BLOCKS // 3, "blockTo": BLOCKS - 3})[len(filters) // 2 :]:
        bounds = range(blocks.get("blockFrom", 0), blocks.get("blockTo", BLOCKS) + 1)
        expected = [row["transactionHash"] for row in rows if row["blockNumber"] in bounds]
        for order in ("desc", "asc"):
            query = {**filters, **blocks, "orderBy": order}
            total = len(expected) if is_counted else None
            first, following = read(client, entity, total, query, limit=2)
            assert first == expected[:2], query
            size, number = longest_read(len(expected))
            later, _ = read(client, entity, total, query, limit=size, page=number)
            assert later == expected[(number - 1) * size : number * size], query
            if len(expected) > 2:
                rest = read(client, entity, total, query, cursor=following, limit=100)
                assert rest == (expected[2:], None), query
            expected.reverse()


def longest_read(entries):
    """The size and number of a late page that, newest first, has the most entries between a
    checkpoint and its first row, and between its last row and another checkpoint."""

    def passed(page):
        size, number = page
        before = -(entries - 1 - size * (number - 1)) % DISTANCE
        return before + (entries - size * number) % DISTANCE, number

    whole = [(size, n) for size in range(1, DISTANCE) for n in range(2, entries // size + 1)]
    return max(whole, key=passed, default=(3, 2))


def read(client, entity, total, query, **window):
    """The transactions of a page's rows, and its cursor."""
    answer = client.get(f"/api/v1/{entity.replace('_', '-')}", query_string={**query, **window})
    assert answer.status_code == 200, (query, window, answer.text)
    assert answer.json["total"] == total, (query, window)
    [records] = [value for value in answer.json.values() if isinstance(value, list)]
    hashes = [record.get("transactionHash") or record["hash"] for record in records]
    return hashes, answer.json["next"]
