"""What a transaction pays for before it runs (EIP-2930) is in its record and on its page."""

import pytest

pytestmark = pytest.mark.thorough


def test_a_transaction_has_the_access_list_that_the_node_has(client, scenario):
    node, lengths = scenario.anvil, {}
    for sent in scenario.truth.transactions:
        of_node = node.call("eth_getTransactionByHash", sent["hash"])
        record = client.get(f"/api/v1/transactions/{sent['hash']}").json
        assert record["accessList"] == of_node.get("accessList"), sent["type"]
        lengths.setdefault(sent["type"], set()).add(len(record["accessList"] or ()))
    assert lengths.keys() >= {0, 1, 2, 3, 4} and 1 in lengths[1]


def test_its_page_names_the_contracts_and_their_slots(client, scenario):
    of_type = {sent["type"]: sent["hash"] for sent in scenario.truth.transactions}
    gold = scenario.stage.contracts["gold"].address.lower()
    with_list, without = (client.get(f"/tx/{of_type[n]}").text for n in (1, 0))
    [section] = with_list.split("<h2>Access list</h2>")[1:]
    assert (
        f'href="/address/{gold}"' in section and "1 slot" in section and "0x" + 64 * "0" in section
    )
    assert "Access list" not in without
