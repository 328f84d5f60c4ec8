"""What the database pays for what pages alone ask, at 50,000 transactions: indexes, and little."""

import json
import time
from hashlib import md5

import pytest

from scan.hex import to_hex
from tests.support.bounded_statements import bounded_row, token
from tests.support.database import execute, insert
from tests.support.explain import SMALL

__all__ = ["token"]

pytestmark = pytest.mark.thorough


def test_statements_about_an_address_a_token_or_newest_blocks_are_bounded(seeded_service, token):
    """A balance after a block reads the changes since alone; events are found in their block."""
    database = seeded_service.database
    _, head, _ = database.row("queries/blocks_find", number=None, hash=None)
    newest = seeded_service.client.get("/api/v1/transactions?limit=100").json["transactions"]
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
    symbols = {"symbol": "WETH", "other_symbol": "USDC", "limit": 20}
    largest = {"block_from": 0, "block_to": 10**9, "limit": 10, "most": 50_000}
    for statement, params, most_buffers in (
        ("queries/token_transfers_count_over_time", {"address": token}, 2_000),
        ("queries/balances_list", {"address": token, **coin, **all_blocks}, 2_000),
        ("queries/balances_list", {"address": token, **coin, **since}, 1_000),
        *(
            ("queries/balances_list", {"address": token, **of_token, "read_by": by, **since}, 1_000)
            for by in ("address", "token")
        ),
        ("queries/activity_list", {"span_s": 300, "spans": 24}, 20_000),
        ("queries/gas_get", {"blocks": 20}, 4_000),
        ("queries/pools_list_by_symbols", symbols, 8_000),
        ("queries/transactions_list_largest_in_blocks", largest, 4_000),
        ("queries/selectors_find", {"name": "transfer", "most": 500}, 10_000),
        ("queries/transactions_get_events", {"hash": bytes.fromhex(last["hash"][2:])}, 2_000),
        ("queries/transactions_list_moved", moved, 3_000),
    ):
        bounded_row(database, most_buffers, statement, **params)


def test_a_row_is_compared_with_all_functions_of_a_name_at_once(seeded_service):
    """By a hash: 500 comparisons of each of the 262,144 rows of a page would take seconds."""
    plans, _ = seeded_service.plans("/api/v1/transactions?method=transfer&status=false")
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
