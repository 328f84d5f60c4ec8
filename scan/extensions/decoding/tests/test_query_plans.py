"""What the page of a pending transaction reads, and what tells whether transactions called code."""

import json

import pytest

from scan.hex import data, to_hex
from tests.support import explain, serving
from tests.support.bounded_statements import bounded_row, token
from tests.support.faulty_node import FaultyNode, every_result

pytestmark = pytest.mark.thorough

__all__ = ["token"]


def test_a_pending_transaction_reads_little(seeded_service, token):
    """The node has it; the index has the names of its parties and what its call means."""
    sent = {
        "hash": "0x" + 64 * "7",
        "from": to_hex(token),
        "to": to_hex(token),
        "type": "0x66",  # which no hash proves
        "value": "0x0",
        "nonce": "0x2",
        "gas": "0xffff",
        "maxFeePerGas": "0x3",
        "input": "0xa9059cbb" + token.hex().rjust(64, "0") + 64 * "1",
    }
    with (
        FaultyNode(serving.NOWHERE) as node,
        explain.explained(seeded_service.url, node.url) as pending,
    ):
        node.fault = every_result(json.dumps(sent))
        plans, page = pending.plans(f"/tx/{sent['hash']}")
    assert "transfer(address,uint256)" in page
    statements = {plan.statement for plan in plans}
    assert {"queries/transactions_get", "contracts/contracts_find"} <= statements
    for plan in plans:
        plan.require_indexes()
    assert sum(plan.buffers for plan in plans) <= 500


def test_what_stood_at_a_recipient_is_read_by_indexes(seeded_service, token):
    database = seeded_service.database
    listed = seeded_service.client.get("/api/v1/transactions?limit=100").json["transactions"]
    calls = [one for one in listed if one["toAddress"]]
    addresses = [data(one["toAddress"]) for one in calls]
    first, last = (choose(one["blockNumber"] for one in calls) for choose in (min, max))
    at = {"addresses": addresses, "first_block": first, "last_block": last}
    bounded_row(database, 50 * len(calls), "contracts/contracts_find", **at)
    ran = {
        "addresses": addresses,
        "blocks": [one["blockNumber"] for one in calls],
        "transaction_indexes": [one["transactionIndex"] for one in calls],
    }
    database.plans.clear()
    assert len(database.rows("contracts/delegates_list", **ran)) == len(calls)
    [plan] = database.plans
    plan.require_indexes()
    assert plan.buffers <= 30 * len(calls)
    for address in (token, addresses[0]):
        most = {"limit": 2000, "most": 200}
        bounded_row(database, 60_000, "gas_use/transactions_list_gas", address=address, **most)


def test_earlier_calls_of_a_block_are_found_by_indexes(seeded_service):
    """Of as many blocks as 100 transactions have."""
    database = seeded_service.database
    listed = seeded_service.client.get("/api/v1/transactions?limit=100").json["transactions"]
    numbers = [one["blockNumber"] for one in listed]
    at = {"numbers": numbers, "transaction_indexes": [2**31 - 1] * len(numbers)}
    database.plans.clear()
    assert len(database.rows("contracts/earlier_calls_exist", **at)) == len(numbers)
    [plan] = database.plans
    plan.require_indexes(most_sorted=2 * len(numbers))
    assert plan.buffers <= 30 * len(numbers)


@pytest.mark.parametrize("limit", [25, 100])
def test_the_methods_of_a_list_of_transfers_are_read_by_indexes(seeded_service, limit):
    """A page of them pays for few pages of an index a row."""
    plans, page = seeded_service.plans(f"/token-transfers?limit={limit}")
    [plan] = [p for p in plans if p.statement == "queries/transactions_list_contexts"]
    assert page.count('data-label="Method"') == limit
    for each in plans:
        each.require_indexes()
    assert plan.buffers <= 12 * limit
