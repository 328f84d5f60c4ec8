"""Objects of chains of other forms than the scenario's, in the form of Blockscout."""

import pytest

from scan.ethereum.fork_schedule import SCHEDULES
from scan.ethereum.forms.matching import FORM_OF_CHAIN
from scan.extensions.block_records.uncles.block_completion import REWARDS
from scan.extensions.blockscout.tests.published import PREFIX, RESPONSES, faults
from scan.extensions.demo.tests.replaying import served
from scan.queries.network import KNOWN_CHAINS
from tests.support.chain_forms.forms import FORMS
from tests.support.indexing import Indexing


def test_every_chain_whose_rules_are_known_has_its_name_and_coin():
    known = {str(chain_id) for chain_id in (*FORM_OF_CHAIN, *REWARDS, *SCHEDULES)}
    assert not known - KNOWN_CHAINS.keys()
    assert KNOWN_CHAINS["61"] == ["Ethereum Classic", "ETC"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ecotone", "zksync", "arbitrum"])
def test_chains_of_other_forms(name, database_url):
    """Every path below some objects of a chain answers as published."""
    chain = FORMS[name]()
    with served(chain) as node:
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        # By list: the field of its items that stands in the paths below.
        lists = {"/blocks": "height", "/transactions": "hash", "/tokens": "address_hash"}
        pages = {kind: client.get(f"{PREFIX}{kind}?items_count=10").json for kind in lists}
        wrong = {fault for kind, page in pages.items() for fault in faults(f"{PREFIX}{kind}", page)}
        sent = pages["/transactions"]["items"]
        parties = [party for item in sent for party in (item["from"], item["to"]) if party]
        objects = {("/addresses", party["hash"]) for party in parties}
        objects |= {(k, str(item[lists[k]])) for k, page in pages.items() for item in page["items"]}
        answers = [
            (route, client.get(f"{PREFIX}{kind}/{value}{rest}"))
            for kind, value in objects
            for route in RESPONSES
            for head, is_object, rest in [route.removeprefix(PREFIX).partition("/{}")]
            if (head, is_object) == (kind, "/{}") and "{}" not in rest and rest != "/countdown"
        ]
    failed = {answer.status_code for _, answer in answers if answer.status_code >= 500}
    assert failed <= {502, 503}
    bodies = [(route, answer.json) for route, answer in answers if answer.status_code == 200]
    assert len(bodies) > 50
    assert not wrong | {fault for route, body in bodies for fault in faults(route, body)}


def test_a_rollups_transactions_have_what_they_paid_for_l1(database_url):
    chain = FORMS["ecotone"]()
    with served(chain) as node:
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        records = (client.get("/api/v1/transactions?limit=100").json or {})["transactions"]
        paid = {r["hash"]: r["feeParts"]["l1"] for r in records if r["feeParts"]["l1"]}
        for sent, fee in paid.items():
            assert (client.get(f"{PREFIX}/transactions/{sent}").json or {})["l1_fee"] == fee
        assert paid
