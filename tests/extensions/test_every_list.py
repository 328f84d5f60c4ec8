"""Every list of sql/lists.toml of an entity of few rows: pages by each filter, whose ends are
compared with a loop. Other entities are those of test_filters.

No node has these rows: they are written into their tables, and the audit counts their lists.
"""

import json
import random
import re
from collections import Counter
from contextlib import closing
from urllib.parse import urlsplit

import pytest
from eth_utils import keccak

from scan.database.connection import Database
from scan.ethereum import column_types, sparse_tables
from scan.extensions.retention.tests.removal import remove
from scan.indexer.block_rows import TABLES
from scan.queries.filter_values import FILTER_KEYS, FILTERS
from tests.support import auditing
from tests.support.database import execute, use_short_checkpoints
from tests.support.indexing import client_over, settings_for
from tests.support.made_blocks import Chain, Move, address
from tests.support.serving import NOWHERE

BLOCKS, ROWS_OF_BLOCK = 16, 3
FIRST_KEPT = BLOCKS // 2
ADDRESSES = ["0x" + address(name).hex() for name in ("one", "two", "three")]
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
RECORDS = {name: table.columns for name, table in TABLES.items() if name in FILTERS}
RECORDS["contract_creations"] = column_types.annotated_columns(sparse_tables.ContractCreation)
# By entity of few rows: the column that each of its filters compares; that of "valid" follows from
# other rows.
COLUMNS = {
    entity: {
        filter_.key: match[1]
        for filter_ in FILTERS[entity]
        if (match := re.fullmatch(r"\w+\.(\w+) = %\(\w+\)s", filter_.condition))
        and filter_.key != "valid"
    }
    for entity in RECORDS
}


@pytest.fixture(scope="module")
def listed(postgres, template):
    """One row of each entity in each transaction of a chain whose first block is empty, newest
    first; clients of its index, and of one without the rows before FIRST_KEPT; and these rows."""
    with postgres.cloned(template) as url:
        use_short_checkpoints(url, 8)
        made = []  # the transactions of each block but the first, newest first
        with closing(Database(url, statement_timeout_ms=10_000)) as database:
            chain = Chain(database)
            chain.append()
            for block in range(1, BLOCKS):
                moves = [Move(address("one"), address("two"))] * ROWS_OF_BLOCK
                for hash_ in chain.append(moves, is_traced=True):
                    names = dict.fromkeys(("transaction", "transactionHash"), "0x" + hash_.hex())
                    made.insert(0, {**names, "blockNumber": block})
        rows = {entity: store(url, entity, made) for entity in COLUMNS}
        auditing.run(settings_for(url, NOWHERE), repair=True)
        with postgres.cloned(urlsplit(url).path[1:]) as kept_url:
            remove(kept_url, FIRST_KEPT)
            yield client_over(url), client_over(kept_url), rows


def store(url, entity, made):
    """A row of each transaction, with a value of each filter in its column, of which the first are
    rare; as clients give them."""
    required = {
        name: OF_TYPE[column.type.name]
        for name, column in RECORDS[entity].items()
        if not column.is_nullable
    }
    rows, stored = [], []
    for number, sent in enumerate(made):
        chance = random.Random(f"{entity} {number}")
        index = ROWS_OF_BLOCK - 1 - number % ROWS_OF_BLOCK
        row, own = {**sent}, {**required}
        for filter_ in (each for each in FILTERS[entity] if each.key in COLUMNS[entity]):
            column = COLUMNS[entity][filter_.key]
            values = [None] * RECORDS[entity][column].is_nullable
            values += filter_.choices or OF_KIND[filter_.kind]
            [value] = chance.choices(values, [3**exponent for exponent in range(len(values))])
            row[filter_.key], of_choice = value, filter_.choices.get(value)
            own[column] = TEXTS.get(value, value) if of_choice is None else f"0x{of_choice}"
        own |= {"block_number": row["blockNumber"], "transaction_index": index}
        own |= dict.fromkeys(("log_index", "authorization_index", "blob_index"), index)
        rows.append(row)
        stored.append({**own, "ordinal": (row["blockNumber"] << 20) + index})
    insert = f"INSERT INTO {entity} SELECT * FROM jsonb_populate_recordset(null::{entity}, %s)"  # noqa: S608
    execute(url, insert, json.dumps(stored[::-1]).replace('"0x', r'"\\x'))
    return rows


@pytest.mark.parametrize("entity", COLUMNS)
def test_every_page_by_each_filter(listed, entity):
    """In both orders, whole and in a range of blocks: by offset and by cursor."""
    client, _, rows = listed
    for filters, matching in [({}, rows[entity]), *by_one_filter(entity, rows[entity])]:
        is_counted = filters.keys().isdisjoint({"success", "transaction"})
        for blocks in {}, {"blockFrom": BLOCKS // 3, "blockTo": BLOCKS - 3}:
            bounds = range(blocks.get("blockFrom", 0), blocks.get("blockTo", BLOCKS) + 1)
            expected = [row["transactionHash"] for row in matching if row["blockNumber"] in bounds]
            for order in ("desc", "asc"):
                query = {**filters, **blocks, "orderBy": order}
                total = {True: len(expected), False: None}[is_counted]
                first, following = read(client, entity, total, query, limit=2)
                assert first == expected[:2], query
                number = 1 + len(expected) // 10  # in the middle, anywhere between two checkpoints
                later, _ = read(client, entity, total, query, limit=5, page=number)
                assert later == expected[5 * number - 5 : 5 * number], query
                rest = read(client, entity, total, query, cursor=following, limit=100)
                assert len(expected) <= 2 or rest == (expected[2:], None), query
                expected.reverse()


@pytest.mark.parametrize("entity", COLUMNS)
def test_lists_begin_with_the_rows_that_are_kept(listed, entity):
    _, client, rows = listed
    kept = [row for row in rows[entity] if row["blockNumber"] >= FIRST_KEPT]
    uncounted = {"success", "transaction"}
    for filters, matching in by_one_filter(entity, kept, left_out=uncounted):
        expected = [row["transactionHash"] for row in matching]
        rest = read(client, entity, len(expected), filters, limit=100)
        assert rest == (expected, None)


def by_one_filter(entity, rows, left_out=frozenset()):
    """The two values of each filter that most rows have, and these rows."""
    keys = {*COLUMNS[entity], "transaction"} - left_out
    for key in (key for key in FILTER_KEYS[entity] if key in keys):
        lengths = Counter(row[key] for row in rows if row[key] is not None)
        for value in sorted(lengths, key=lengths.__getitem__)[-2:]:
            yield {key: value}, [row for row in rows if row[key] == value]


def read(client, entity, total, query, **window):
    """The transactions of a page's rows, and its cursor."""
    query = {k: str(v).lower() if isinstance(v, bool) else v for k, v in query.items()}
    answer = client.get(f"/api/v1/{entity.replace('_', '-')}", query_string={**query, **window})
    assert answer.status_code == 200, (query, window, answer.text)
    assert answer.json["total"] == total, (query, window)
    [records] = [value for value in answer.json.values() if isinstance(value, list)]
    hashes = [record.get("transactionHash") or record["hash"] for record in records]
    return hashes, answer.json["next"]
