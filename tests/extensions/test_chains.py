"""Objects of chains of other forms than the scenario's, in the form of Blockscout."""

import pytest

from scan.ethereum.fork_schedule import SCHEDULES
from scan.ethereum.forms.matching import FORM_OF_CHAIN
from scan.extensions.block_records.uncles.block_completion import REWARDS
from scan.extensions.blockscout.tests.published import PREFIX, RESPONSES, faults
from scan.queries.network import KNOWN_CHAINS
from tests.extensions.indexed_forms import indexed
from tests.support.chain_forms.forms import FORMS

# By list: the field of its items that stands in the paths below.
LISTS = {"/blocks": "height", "/transactions": "hash", "/tokens": "address_hash"}


def wrong_answers(client):
    """What is not as published of every path below some objects of a chain."""
    pages = {kind: client.get(f"{PREFIX}{kind}?items_count=10").json for kind in LISTS}
    wrong = {fault for kind, page in pages.items() for fault in faults(f"{PREFIX}{kind}", page)}
    objects = {(k, str(item[LISTS[k]])) for k, page in pages.items() for item in page["items"]}
    sent, paths = pages["/transactions"]["items"], 0
    parties = [party for item in sent for party in (item["from"], item["to"]) if party]
    for kind, value in (*objects, *{("/addresses", party["hash"]) for party in parties}):
        for route in RESPONSES:
            head, is_object, rest = route.removeprefix(PREFIX).partition("/{}")
            if (head, is_object) == (kind, "/{}") and "{}" not in rest and rest != "/countdown":
                response = client.get(f"{PREFIX}{head}/{value}{rest}")
                assert response.status_code < 500 or response.status_code in (502, 503), route
                if response.status_code == 200:
                    paths += 1
                    wrong.update(faults(route, response.json))
    assert paths > 50
    return wrong


def test_every_chain_whose_rules_are_known_has_its_name_and_coin():
    known = {str(chain_id) for chain_id in (*FORM_OF_CHAIN, *REWARDS, *SCHEDULES)}
    assert not known - KNOWN_CHAINS.keys()
    assert KNOWN_CHAINS["61"] == ["Ethereum Classic", "ETC"]


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["ecotone", "zksync", "arbitrum"])
def test_chains_of_other_forms(name, postgres, template):
    with indexed(FORMS[name](), postgres, template) as (index, _):
        assert not wrong_answers(index.client())


def test_a_rollups_transactions_have_what_they_paid_for_l1(postgres, template):
    with indexed(FORMS["ecotone"](), postgres, template) as (index, _):
        client = index.client()
        records = (client.get("/api/v1/transactions?limit=100").json or {})["transactions"]
        paid = {r["hash"]: r["feeParts"]["l1"] for r in records if r["feeParts"]["l1"]}
        for sent, fee in paid.items():
            assert (client.get(f"{PREFIX}/transactions/{sent}").json or {})["l1_fee"] == fee
        assert paid
