"""What the database pays for what pages alone ask, at 50,000 transactions: indexes, and little."""

import json
import time
from hashlib import md5, sha256

import pytest

from scan.hex import to_hex
from tests.support.bounded_statements import bounded_row, database, service, token
from tests.support.database import execute, insert
from tests.support.explain import SMALL

__all__ = ["database", "service", "token"]

pytestmark = pytest.mark.thorough


STATEMENTS = [
    # 25 ends of spans, each found in 10 probes of 3 pages; 200 blocks of each span at most.
    ("queries/activity_list", {"span_s": 300, "spans": 24}, 20_000),
    ("queries/activity_list", {"span_s": 86_400, "spans": 14}, 20_000),
    (
        "queries/addresses_get",
        {
            "address": b"\x01" * 20,
            "state_block": 0,
            "has_recent": False,
            "lists": ["transactions_by_address", "contract_creations_by_creator"],
        },
        100,
    ),
    ("queries/addresses_list_names", {"addresses": [bytes([n]) * 20 for n in range(100)]}, 3_000),
    (
        "queries/transactions_list_parties",
        {"addresses": [bytes([n]) * 20 for n in range(100)]},
        3_000,
    ),
    (
        "queries/verified_contracts_list",
        {"limit": 25, "offset": 0}
        | dict.fromkeys(("after_us", "after_address", "after_code_hash")),
        100,
    ),
    ("queries/dexes_list", {"most": 30}, 100),
    (
        "queries/pools_list_by_symbols",
        {"symbol": "WETH", "other_symbol": "USDC", "limit": 20},
        8_000,
    ),
    # 5,000 transactions in their order, and 400 by the numbers of their blocks.
    ("queries/gas_get", {"blocks": 20}, 4_000),
    ("queries/transactions_list_largest_of_newest", {"limit": 10}, 1_000),
    (
        "queries/transactions_list_largest_in_blocks",
        {"block_from": 0, "block_to": 10**9, "limit": 10, "most": 50_000},
        4_000,
    ),
    (
        "queries/daily_stats_list",
        {"date_from": None, "date_to": None, "default_days": 90, "max_days": 366},
        200,
    ),
]


@pytest.mark.parametrize(("statement", "params", "most_buffers"), STATEMENTS, ids=str)
def test_statements_of_pages_read_little_of_indexes(database, statement, params, most_buffers):
    bounded_row(database, most_buffers, statement, **params)


def test_statements_about_one_address_token_or_transaction_are_bounded(service, database, token):
    """A balance after a block reads the changes since alone; events are found in their block."""
    _, head, _ = database.row("queries/blocks_find", number=None, hash=None)
    newest = service.client.get("/api/v1/transactions?limit=100").json["transactions"]
    last = newest[0]
    moved = {
        "blocks": [row["blockNumber"] for row in newest],
        "indexes": [row["transactionIndex"] for row in newest],
        "parties": [bytes.fromhex(row["fromAddress"][2:]) for row in newest],
    }
    all_blocks = {"block_from": 0, "block_to": 2**62, "most": 100, "points": 40}
    since = {"block_from": head - 10, "block_to": 2**62, "most": 2**31 - 1, "points": 1}
    of_token = {"token": token, "has_token": True, "balance": None}
    coin = {"token": None, "has_token": False, "read_by": "address", "balance": 0}
    for statement, params, most_buffers in (
        ("queries/token_transfers_count_over_time", {"address": token}, 2_000),
        ("queries/balances_list", {"address": token, **coin, **all_blocks}, 2_000),
        ("queries/balances_list", {"address": token, **coin, **since}, 1_000),
        *(
            ("queries/balances_list", {"address": token, **of_token, "read_by": by, **since}, 1_000)
            for by in ("address", "token")
        ),
        ("queries/selectors_find", {"name": "transfer", "most": 500}, 10_000),
        ("queries/transactions_get_events", {"hash": bytes.fromhex(last["hash"][2:])}, 2_000),
        ("queries/transactions_list_moved", moved, 3_000),
    ):
        bounded_row(database, most_buffers, statement, **params)


def test_the_page_of_an_address_reads_each_thing_once(service):
    """Its list and what completes that, the tokens held, who funded it, the address with its
    creation and the
    numbers of its lists, and names."""
    transaction = service.client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    plans, page = service.plans(f"/address/{transaction['fromAddress']}")
    statements = [plan.statement for plan in plans if plan.statement.startswith("queries/")]
    assert f"/tx/{transaction['hash']}" in page
    assert len(statements) == len({*statements})
    assert {"queries/addresses_get", "queries/addresses_list_names"} <= {*statements}
    assert {"queries/blocks_find", "queries/contracts_get_creation"}.isdisjoint(statements)
    assert len(statements) <= 7
    for plan in plans:
        plan.require_indexes()
    for tab in ("transfers", "tokens"):
        plans, _ = service.plans(f"/address/{transaction['fromAddress']}?tab={tab}")
        statements = [plan.statement for plan in plans]
        assert statements.count("queries/addresses_list_names") == 1
        assert statements.count("queries/blocks_get_ends") <= 1  # the block that they are of


def test_stored_blocks_are_read_by_their_numbers(own_seeded_service):
    database, url = own_seeded_service.database, own_seeded_service.url
    execute(url, "CREATE TABLE block_bodies_others PARTITION OF block_bodies DEFAULT")
    execute(
        url,
        "INSERT INTO block_bodies SELECT number, hash, convert_to(repeat(md5(hash), 2000), 'UTF8')"
        " FROM blocks ON CONFLICT DO NOTHING",
    )
    execute(url, "VACUUM ANALYZE block_bodies")
    last = own_seeded_service.client.get("/api/v1/transactions?limit=1").json["transactions"][0]
    keys = {"hash": bytes.fromhex(last["hash"][2:])}
    hashes = [bytes.fromhex(last["blockHash"][2:])]
    for statement, params in (
        ("queries/transactions_get", {**keys, "kept_blocks": []}),
        ("queries/transactions_get", {**keys, "kept_blocks": hashes}),
        (
            "contracts/block_bodies_list",
            {"numbers": [*range(1, 65)], "most_bytes": 2**30, "whatever_size": True},
        ),
    ):
        database.plans.clear()
        rows = database.rows(statement, **params)
        assert len(rows) == len(params.get("numbers", [1]))
        assert (rows[0][-1] is None) == (params.get("kept_blocks") == hashes)
        [plan] = database.plans
        plan.require_indexes()
        assert plan.buffers <= 20 * len(rows) + 100, (statement, plan.buffers)


def test_a_row_is_compared_with_all_functions_of_a_name_at_once(service):
    """By a hash: 500 comparisons of each of the 262,144 rows of a page would take seconds."""
    plans, _ = service.plans("/api/v1/transactions?method=transfer&status=false")
    plan = plans[-1]
    assert plan.statement == "queries/transactions_list_by_filters"
    assert any("hashed SubPlan" in node.get("Filter", "") for node in plan.nodes)


def test_transfers_of_a_token_by_day_are_exact_and_cheap(own_seeded_service, token):
    database, url = own_seeded_service.database, own_seeded_service.url
    days = {"2020-01-01": (0, 89), "2020-01-03": (90, 199), "2020-01-04": (200, 201)}
    days |= {"2020-01-07": (202, 300)}
    execute(url, "DELETE FROM daily_stats")
    for day, (first, last) in days.items():
        insert(url, "daily_stats", day=day, first_block=first, last_block=last)
    small = {*SMALL, "daily_stats"}
    by_day = "queries/token_transfers_count_by_day"
    row = bounded_row(database, 500, by_day, small, address=token, days=60)
    counted = {
        time.strftime("%Y-%m-%d", time.gmtime(record["time"])): record["transfers"]
        for record in json.loads(row[1])
    }
    statement = "SELECT block_number FROM token_transfers WHERE token_address = %s"
    blocks = [block for (block,) in execute(url, statement, token)]
    assert counted == {
        day: sum(first <= block <= last for block in blocks) for day, (first, last) in days.items()
    }
    assert sum(counted.values()) > 0


def test_similar_code_and_creations_are_found_by_indexes(own_seeded_service):
    database, url = own_seeded_service.database, own_seeded_service.url
    execute(
        url,
        "INSERT INTO verified_contracts (address, code_hash, match, contract_name, file_path,"
        " compiler_version, settings, abi, sources, verified_at, code_length, masked_hash,"
        " variable_ranges) SELECT decode(md5(n::text) || '00000000', 'hex'), '', 'full', '', '',"
        " '', '{}', '[]', '{}', now(), mod(n, 20), '', '[]' FROM generate_series(1, 20000) AS n",
    )
    execute(url, "UPDATE verified_contracts SET is_indexed = true")
    execute(url, "VACUUM ANALYZE verified_contracts")
    created = b"\xc5" * 20
    execute(
        url,
        "INSERT INTO contract_creations SELECT n, t.block_number, t.transaction_index,"
        " CASE WHEN n = 10000 THEN %s ELSE sha256(n::text::bytea) END, t.from_address, '\\xc4'"
        " FROM generate_series(1, 20000) AS n JOIN transactions t ON t.ordinal = n",
        created,
    )
    database.plans.clear()
    database.row("queries/verified_contracts_list_similar", code_length=7)
    assert bytes(database.row("queries/contracts_get_creation", address=created)[2]) == b"\xc4"
    for plan in database.plans:
        plan.require_indexes()
        assert plan.buffers <= 2_000


def test_many_verifications_of_one_code_are_not_read_for_each_of_its_contracts(own_seeded_service):
    """Whoever deploys a small contract often may verify all of them."""
    database, url = own_seeded_service.database, own_seeded_service.url
    execute(
        url,
        "INSERT INTO contracts (address, block_number, code_hash)"
        " SELECT decode(md5(n::text) || '11111111', 'hex'), 1, sha256('copied')"
        " FROM generate_series(1, 10000) AS n",
    )
    execute(
        url,
        "INSERT INTO verified_contracts (address, code_hash, match, contract_name, file_path,"
        " compiler_version, settings, abi, sources, verified_at, creation_length, creation_hash)"
        " SELECT address, code_hash, 'full', hex(address), '', '', '{}', '[]', '{}', now(),"
        " octet_length(hex(address)), sha256(hex(address)::bytea)"
        " FROM contracts WHERE code_hash = sha256('copied')",
    )
    addresses = [md5(str(n).encode()).digest() + b"\x11" * 4 for n in range(1, 101)]
    # It read 2,024,002 when all of them were sorted.
    _, names = bounded_row(database, 6_000, "queries/addresses_list_names", addresses=addresses)
    shown = {address: names["contract"] for address, names in json.loads(names).items()}
    assert shown == {to_hex(address): to_hex(address) for address in addresses}
    execute(
        url,
        "WITH moved AS (DELETE FROM verified_contracts v WHERE v.address = ANY (%s) RETURNING v.*),"
        " others AS (INSERT INTO verified_contracts (address, code_hash, match, contract_name,"
        " file_path, compiler_version, settings, abi, sources, verified_at, creation_length,"
        " creation_hash) SELECT sha256(address), code_hash, match, contract_name, '', '', '{}',"
        " '[]', '{}', now(), creation_length, creation_hash FROM moved) INSERT INTO"
        " creation_comparisons (address, code_hash, creation_hash, is_equal, constructor_arguments)"
        " SELECT address, code_hash, creation_hash, true, '' FROM moved",
        addresses,
    )
    row = bounded_row(database, 6_000, "queries/addresses_list_names", addresses=addresses)
    assert row[1] == names
    verification = bounded_row(
        database,
        100,
        "verification/verified_contracts_list_by_creation",
        code_hash=sha256(b"copied").digest(),
        creation=to_hex(addresses[0]).encode() + bytes(500),
        lengths=300,
    )
    assert bytes(verification[0]) == sha256(to_hex(addresses[0]).encode()).digest()
