"""Queries at random, compared with a look at every record of the chain."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import psycopg2
import pytest
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app import create_app
from bench.seed import seed
from scan.database.connection import Database
from scan.indexer.writer import Writer
from tests.conftest import Played
from tests.support.brute_force import KEYS, Chain, bodies, require_same
from tests.support.database import Postgres
from tests.support.indexing import settings_for

pytestmark = pytest.mark.long

# The chain and the database stand; nothing is to be set up anew for an example.
many = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
TRANSACTIONS = 9_000
NOBODY = "http://127.0.0.1:9"

EVERYTHING = {
    "transactions": """
        SELECT jsonb_build_object('hash', hex(t.hash), 'blockNumber', t.block_number,
            'fromAddress', hex(t.from_address), 'toAddress', hex(t.to_address),
            'value', t.value::text, 'methodId', hex(t.method), 'status', t.status,
            'type', integer_text(t.type)::integer, 'timestamp', iso(b.timestamp))
        FROM transactions t JOIN blocks b ON b.number = t.block_number
        ORDER BY t.block_number DESC, t.transaction_index DESC""",
    "token_transfers": """
        SELECT jsonb_build_object('blockNumber', x.block_number, 'logIndex', x.log_index,
            'batchIndex', coalesce(x.batch_index, 0), 'fromAddress', hex(x.from_address),
            'toAddress', hex(x.to_address), 'tokenAddress', hex(x.token_address),
            'tokenType', k.type, 'timestamp', iso(b.timestamp))
        FROM token_transfers x JOIN tokens k ON k.address = x.token_address
        JOIN blocks b ON b.number = x.block_number
        ORDER BY x.block_number DESC, x.log_index DESC, coalesce(x.batch_index, 0) DESC""",
    "dex_trades": """
        SELECT jsonb_build_object('blockNumber', d.block_number, 'logIndex', d.log_index,
            'maker', hex(d.maker), 'dex', name, 'pairAddress', hex(d.pool_address),
            'tokenIn', hex(d.token_in), 'tokenOut', hex(d.token_out),
            'timestamp', iso(b.timestamp))
        FROM dex_trades d JOIN dexes USING (dex_id) JOIN blocks b ON b.number = d.block_number
        ORDER BY d.block_number DESC, d.log_index DESC""",
    "internal_transfers": """
        SELECT jsonb_build_object('blockNumber', i.block_number,
            'transferIndex', i.transfer_index, 'fromAddress', hex(i.from_address),
            'toAddress', hex(i.to_address), 'value', i.value::text,
            'timestamp', iso(b.timestamp))
        FROM internal_transfers i JOIN blocks b ON b.number = i.block_number
        ORDER BY i.block_number DESC, i.transaction_index DESC, i.transfer_index DESC""",
    "logs": """
        SELECT jsonb_build_object('blockNumber', l.block_number, 'logIndex', l.log_index,
            'address', hex(l.address), 'topics', topics_json(topic0, topics)::jsonb,
            'timestamp', iso(b.timestamp))
        FROM logs l JOIN event_topics USING (topic_id) JOIN blocks b ON b.number = l.block_number
        ORDER BY l.block_number DESC, l.log_index DESC""",
    "user_operations": """
        SELECT jsonb_build_object('blockNumber', u.block_number, 'logIndex', u.log_index,
            'sender', hex(u.sender), 'paymaster', hex(u.paymaster), 'bundler', hex(u.bundler),
            'entryPoint', hex(u.entry_point), 'success', u.success, 'timestamp', iso(b.timestamp))
        FROM user_operations u JOIN blocks b ON b.number = u.block_number
        ORDER BY u.block_number DESC, u.log_index DESC""",
    "blocks": """
        SELECT jsonb_build_object('number', number, 'timestamp', iso(timestamp))
        FROM blocks ORDER BY number DESC""",
    "tokens": """
        SELECT jsonb_build_object('address', hex(address), 'holderCount', holder_count)
        FROM tokens ORDER BY holder_count DESC, address DESC""",
}


class Large(NamedTuple):
    """A chain of many records, of which some addresses have hundreds."""

    client: FlaskClient
    chain: Chain


@pytest.fixture(scope="module")
def large(postgres: Postgres, template: str) -> Iterator[Large]:
    with postgres.cloned(template) as url:
        seed(url, TRANSACTIONS, internal_transfers=True, logs=True, user_operations=True)
        yield read_large(url)


def read_large(url: str) -> Large:
    connection = psycopg2.connect(url)
    with connection, connection.cursor() as cursor:
        records = {entity: _column(cursor, text) for entity, text in EVERYTHING.items()}
    connection.close()
    chain = Chain(records, {}, are_whole=False)
    return Large(create_app(settings_for(url, NOBODY)).test_client(), chain)


def _column(cursor: Any, text: str) -> list[Any]:
    cursor.execute(text)
    return [row[0] for row in cursor.fetchall()]


@pytest.fixture(scope="module")
def small(scenario: Played) -> Chain:
    truth = scenario.truth
    return Chain({entity: getattr(truth, entity) for entity in KEYS}, truth.created)


@pytest.fixture(scope="module")
def queries(small: Chain) -> st.SearchStrategy[dict[str, Any]]:
    return bodies(small)


@pytest.fixture(scope="module")
def queries_of_large(large: Large) -> st.SearchStrategy[dict[str, Any]]:
    return bodies(large.chain)


@many
@given(data=st.data())
def test_any_query_is_answered_as_the_node_would(
    client: FlaskClient,
    small: Chain,
    queries: st.SearchStrategy[dict[str, Any]],
    data: st.DataObject,
) -> None:
    body = data.draw(queries)
    require_same(client, small, small.find(body), body)


@settings(parent=many, max_examples=200)
@given(data=st.data())
def test_any_query_of_a_large_chain_is_answered_as_its_tables_say(
    large: Large, queries_of_large: st.SearchStrategy[dict[str, Any]], data: st.DataObject
) -> None:
    body = data.draw(queries_of_large)
    require_same(large.client, large.chain, large.chain.find(body), body)


LISTS = [
    ("transactions", "address", "fromAddress"),
    ("transactions", "from", "fromAddress"),
    ("transactions", "to", "toAddress"),
    ("token_transfers", "address", "fromAddress"),
    ("token_transfers", "from", "fromAddress"),
    ("token_transfers", "to", "toAddress"),
    ("token_transfers", "tokenAddress", "tokenAddress"),
    ("dex_trades", "address", "maker"),
    ("dex_trades", "dex", "dex"),
    ("internal_transfers", "address", "fromAddress"),
    ("internal_transfers", "from", "fromAddress"),
    ("internal_transfers", "to", "toAddress"),
    ("logs", "address", "address"),
    ("logs", "topic0", "topics"),
]


def of_most(chain: Chain, entity: str, field: str) -> Any:
    """The value that most records of an entity have in a field."""
    values = [record[field] for record in chain.records[entity] if record[field]]
    counts = Counter(value[0] if isinstance(value, list) else value for value in values)
    return counts.most_common(1)[0][0]


def require_total(
    client: FlaskClient, chain: Chain, whole: list[Any], body: dict[str, Any]
) -> None:
    """As require_same(); the length of the list has to be known, too."""
    require_same(client, chain, whole, body)
    assert client.post("/api/v1/query", json=body).json["total"] == len(whole)


@pytest.mark.parametrize("last_kept", [58, 17])
def test_lists_are_exact_after_a_reorganisation(
    postgres: Postgres, template: str, last_kept: int
) -> None:
    """Counters and checkpoints of the blocks that were taken back are gone, no other."""
    with postgres.cloned(template) as url:
        seed(url, TRANSACTIONS, internal_transfers=True, logs=True)
        writer_database = Database(url, statement_timeout_ms=60_000)
        Writer(writer_database).unwind(last_kept)
        writer_database.close()
        cut = read_large(url)
        assert cut.chain.records["blocks"][0]["number"] == last_kept
        draw = random.Random(last_kept)
        for entity, key, field in LISTS:
            value = of_most(cut.chain, entity, field)
            for direction in ("asc", "desc"):
                ends = {"blockFrom": draw.randint(0, 9), "blockTo": last_kept - draw.randint(0, 9)}
                for filters in ({key: value}, {key: value, **ends}):
                    body = {"entity": entity, "filter": filters, "orderBy": direction}
                    whole = cut.chain.find(body)
                    for offset in (0, draw.randint(0, len(whole)), max(0, len(whole) - 1)):
                        require_total(cut.client, cut.chain, whole, {**body, "offset": offset})


def test_what_is_derived_does_not_depend_on_the_batches(
    postgres: Postgres, template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Checkpoints and counters are the same, whether many blocks came at once or one by one."""
    found = []
    for span in (1, 500):
        monkeypatch.setattr("bench.seed.SPAN_BLOCKS", span)
        with postgres.cloned(template) as url:
            seed(url, 3_000, internal_transfers=True)
            connection = psycopg2.connect(url)
            with connection, connection.cursor() as cursor:
                found.append([_column(cursor, text) for text in DERIVED])
            connection.close()
    assert found[0] == found[1]


DERIVED = [
    "SELECT c::text FROM list_checkpoints c ORDER BY list, key, place",
    "SELECT (address, transaction_count, sent_count, received_count, transfer_count,"
    " transfer_sent_count, transfer_received_count, trade_count, first_seen, last_seen,"
    " internal_count, internal_sent_count, internal_received_count)::text"
    " FROM addresses ORDER BY address",
    "SELECT h::text FROM token_holders h ORDER BY holder, token_address",
    "SELECT t::text FROM tokens t ORDER BY address",
    "SELECT (name, trade_count)::text FROM dexes ORDER BY name",
]
