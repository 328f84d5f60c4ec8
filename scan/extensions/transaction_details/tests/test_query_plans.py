"""What the page of a pending transaction reads."""

import json

from scan.hex import to_hex
from tests.pages.test_query_plans import database, service, token
from tests.support import explain, serving
from tests.support.faulty_node import FaultyNode, every_result

__all__ = ["database", "service", "token"]


def test_a_pending_transaction_reads_little(service, token):
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
    with FaultyNode(serving.NOWHERE) as node, explain.explained(service.url, node.url) as pending:
        node.fault = every_result(json.dumps(sent))
        plans, page = pending.plans(f"/tx/{sent['hash']}")
    assert "transfer(address,uint256)" in page
    statements = {plan.statement for plan in plans}
    assert {"queries/transactions_get", "contracts/contracts_find"} <= statements
    for plan in plans:
        plan.require_indexes()
    assert sum(plan.buffers for plan in plans) <= 500
