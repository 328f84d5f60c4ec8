"""Lists of entities that have few rows: every page by each filter and by each two.

No node has these rows: they are written into the tables, and the audit counts their lists.
"""

import json
import random
from collections import Counter
from collections.abc import Iterator
from itertools import permutations
from typing import Any, NamedTuple

import pytest
from flask.testing import FlaskClient

from app import create_app
from scan.database.connection import Database
from scan.database.lists import all_entities
from scan.queries import pages
from scan.queries.filters import FILTER_KEYS
from tests.audit import auditing
from tests.support.database import Postgres, execute, use_short_checkpoints
from tests.support.indexing import settings_for
from tests.support.made_blocks import Chain, Move, address

Row = dict[str, Any]
BLOCKS, ROWS_OF_BLOCK = 16, 3
DISTANCE = 8  # of checkpoints
NOBODY = "http://127.0.0.1:9"
ADDRESSES = ["0x" + address(name).hex() for name in ("one", "two", "three")]
ANYBODY = [None, *ADDRESSES]
HASHES = ["0x01" + 62 * "1", "0x01" + 62 * "2"]
# What each column of a row may hold; those of filters have the names of their keys.
VALUES: dict[str, dict[str, list[Any]]] = {
    "user_operations": {
        **dict.fromkeys(("sender", "bundler", "entryPoint"), ADDRESSES),
        **{"paymaster": ANYBODY, "success": [True, False], "hash": HASHES},
    },
    "authorizations": {"authority": ANYBODY, "delegate": ADDRESSES},
    "messages_to_l1": {"sender": ADDRESSES, "target": ANYBODY, "hash": HASHES},
    "blobs": {"versionedHash": HASHES},
    "execution_requests": {
        **{"requestType": ["withdrawal", "consolidation"], "address": ANYBODY},
        "pubkey": ["0x" + 96 * "1", "0x" + 96 * "2"],
    },
    "contract_creations": {"creator": ADDRESSES, "factory": ANYBODY},
}
COLUMNS = {"entryPoint": "entry_point", "versionedHash": "versioned_hash", "requestType": "type"}
STORED = {"withdrawal": "0x01", "consolidation": "0x02"}
# Of columns that must hold something.
OTHERS = {
    **dict.fromkeys(("nonce", "fee", "gas_used", "data_size"), 0),
    **dict.fromkeys(("chain_id", "y_parity", "signature_r", "signature_s"), "0x01"),
    **{"details": "0x" + 96 * "0", "address": ADDRESSES[0]},
}


class Listed(NamedTuple):
    client: FlaskClient
    rows: dict[str, list[Row]]  # of each entity, newest first


@pytest.fixture(scope="module")
def listed(postgres: Postgres, template: str) -> Iterator[Listed]:
    with postgres.cloned(template) as url:
        use_short_checkpoints(url, DISTANCE)
        database = Database(url, statement_timeout_ms=10_000)
        chain = Chain(database)
        moves = [Move(bytes(20), bytes(20))] * ROWS_OF_BLOCK
        hashes = [chain.append(moves) for _ in range(BLOCKS)]
        database.close()
        rows = {entity: make_rows(entity, hashes) for entity in VALUES}
        for entity in VALUES:
            store(url, entity, rows[entity][::-1])
        settings = settings_for(url, NOBODY)
        auditing.run(settings, repair=True)
        yield Listed(create_app(settings).test_client(), rows)


def make_rows(entity: str, hashes: list[list[bytes]]) -> list[Row]:
    """One of each transaction but of those of the first block; some values are rare."""
    chance = random.Random(entity)
    return [
        {
            **{
                name: chance.choices(values, [3**place for place in range(len(values))])[0]
                for name, values in VALUES[entity].items()
            },
            **{"blockNumber": block, "transactionHash": "0x" + hash_.hex()},
        }
        for block in range(BLOCKS - 1, 0, -1)
        for hash_ in reversed(hashes[block])
    ]


def store(url: str, entity: str, rows: list[Row]) -> None:
    stored = []
    for place, row in enumerate(rows):
        index = place % ROWS_OF_BLOCK
        stored.append(
            {
                **OTHERS,
                **{COLUMNS.get(key, key): STORED.get(value, value) for key, value in row.items()},
                **{"block_number": row["blockNumber"], "transaction_index": index},
                **dict.fromkeys(("log_index", "authorization_index", "blob_index"), index),
                "ordinal": (row["blockNumber"] << 20) + index,
            }
        )
    insert = f"INSERT INTO {entity} SELECT * FROM jsonb_populate_recordset(null::{entity}, %s)"  # noqa: S608
    execute(url, insert, json.dumps(stored).replace('"0x', r'"\\x'))


def test_every_entity_with_few_rows_is_here() -> None:
    assert VALUES.keys() == {name for name, e in all_entities().items() if e.is_sparse}


@pytest.mark.parametrize("entity", VALUES)
def test_every_page_by_each_filter_and_each_two(
    listed: Listed, entity: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By two without bounds, as where the index changes meanwhile: what is in a range is told by
    the list's own statement."""
    keys = [key for key in FILTER_KEYS[entity] if key in VALUES[entity]]
    rows = listed.rows[entity]
    lengths = {key: Counter(row[key] for row in rows) for key in keys}
    require_pages(listed.client, entity, {}, rows)
    for key in keys:
        for value in sorted(lengths[key].keys() - {None}, key=lengths[key].__getitem__)[-2:]:
            matching = [row for row in rows if row[key] == value]
            require_pages(listed.client, entity, {key: value}, matching)
    read_bounds = pages._bounds
    monkeypatch.setattr(pages, "_bounds", lambda *a: (*read_bounds(*a)[:2], pages.UNBOUNDED))
    for short, long in permutations(keys, 2):
        # Rows are read from the list with the fewest entries.
        both = [row for row in rows if None not in (row[short], row[long])]
        shown = min(both, key=lambda row: lengths[short][row[short]] - lengths[long][row[long]])
        filters = {short: shown[short], long: shown[long]}
        matching = [row for row in rows if filters.items() <= row.items()]
        require_pages(listed.client, entity, filters, matching)


def require_pages(client: FlaskClient, entity: str, filters: Row, rows: list[Row]) -> None:
    """In both orders, in a range of blocks and, by one filter, whole: by offset and by cursor."""
    is_counted = len(filters) < 2 and "success" not in filters
    filters = {k: str(v).lower() if isinstance(v, bool) else v for k, v in filters.items()}
    for blocks in ({}, {"blockFrom": 2, "blockTo": BLOCKS - 3})[len(filters) // 2 :]:
        bounds = range(blocks.get("blockFrom", 0), blocks.get("blockTo", BLOCKS) + 1)
        expected = [row["transactionHash"] for row in rows if row["blockNumber"] in bounds]
        for order in ("desc", "asc"):
            query = {**filters, **blocks, "orderBy": order}
            total = len(expected) if is_counted else None
            first, following = read(client, entity, total, query, limit=2)
            assert first == expected[:2], query
            size = longest_read(len(expected))
            later, _ = read(client, entity, total, query, limit=size, page=2)
            assert later == expected[size : 2 * size], query
            if len(expected) > 2:
                rest = read(client, entity, total, query, cursor=following, limit=100)
                assert rest == (expected[2:], None), query
            expected.reverse()


def longest_read(entries: int) -> int:
    """The size of second pages, newest first, that have the most entries between a checkpoint and
    their first row, and between their last row and another."""
    return max(
        range(1, DISTANCE),
        key=lambda size: -(entries - 1 - size) % DISTANCE + (entries - 2 * size) % DISTANCE,
    )


def read(
    client: FlaskClient, entity: str, total: int | None, query: Row, **window: Any
) -> tuple[list[str], str | None]:
    """The transactions of a page's rows, and its cursor."""
    path = f"/api/v1/{entity.replace('_', '-')}"
    answer = client.get(path, query_string={**query, **window})
    assert answer.status_code == 200, (query, window, answer.text)
    assert answer.json["total"] == total, (query, window)
    [records] = [value for value in answer.json.values() if isinstance(value, list)]
    return [record["transactionHash"] for record in records], answer.json["next"]
