"""What the page of a pending transaction reads."""

import json
from dataclasses import replace

from app import create_app
from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.hex import to_hex
from scan.http.services import Services
from tests.pages.test_query_plans import database, service, token
from tests.support.explain import Explained
from tests.support.faulty_node import FaultyNode, every_result
from tests.support.indexing import settings_for
from tests.support.serving import NOWHERE

__all__ = ["database", "service", "token"]


def test_a_pending_transaction_reads_little(service: Explained, token: bytes) -> None:
    """The node has it; the index has the names of its parties and what its call means."""
    sent = {
        "hash": "0x" + 64 * "7",
        "from": to_hex(token),
        "to": to_hex(token),
        "type": "0x2",
        "value": "0x0",
        "nonce": "0x2",
        "gas": "0xffff",
        "maxFeePerGas": "0x3",
        "input": "0xa9059cbb" + token.hex().rjust(64, "0") + 64 * "1",
    }
    with FaultyNode(NOWHERE) as node:
        node.fault = every_result(json.dumps(sent))
        app = create_app(settings_for(service.url, node.url))
        database = service.database
        served: Services = app.extensions["scan"]
        of_extensions = {**served.sources.of_extensions, ContractAbis: ContractAbis(database)}
        sources = replace(served.sources, database=database, of_extensions=of_extensions)
        app.extensions["scan"] = replace(served, sources=sources)
        database.plans.clear()
        page = app.test_client().get(f"/tx/{sent['hash']}")
    assert page.status_code == 200 and "transfer(address,uint256)" in page.text
    statements = {plan.statement for plan in database.plans}
    assert {"queries/transactions_get", "contracts/contracts_find"} <= statements
    for plan in database.plans:
        plan.require_indexes()
    assert sum(plan.buffers for plan in database.plans) <= 500
