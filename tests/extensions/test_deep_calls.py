"""A transaction whose calls nest as deeply as the EVM lets them, beside another one."""

import pytest

from scan.extensions.backfill.tests.backfilling import backfill
from tests.support import faulty_node, indexing, table_digest
from tests.support.anvil import Anvil

pytestmark = pytest.mark.thorough


def flat_alone(calls, forward):
    """As a node that has no callTracer; the proxy cannot read what that nests."""
    others = [call for call in calls if not call["method"].startswith("debug_")]
    refused = [call for call in calls if call not in others]
    answers = faulty_node.node_error(-32601, "not found")(refused, forward).body
    return faulty_node.Reply(body=answers + forward(others))


@pytest.mark.parametrize("fault", [None, flat_alone], ids=["nested", "flat"])
def test_the_deepest_calls_are_read(database_url, clone, template, tmp_path, fault):
    most_depth, deep = 1024, f"0x{0xDEE9:040x}"
    pay_itself = "0x5f5f5f5f6001305af100"  # 1 wei, by a call of its own code, until the EVM refuses
    gas = 9 * 10**12  # of which a 64th stays with each call
    with Anvil("--gas-limit", str(2 * gas)) as anvil, faulty_node.FaultyNode(anvil.url) as proxy:
        proxy.fault = fault
        url = proxy.url if fault else anvil.url
        purse = anvil.deploy(anvil.accounts[0], "Purse")
        anvil.call("anvil_setCode", deep, pay_itself)
        anvil.call("anvil_setBalance", deep, hex(most_depth))
        paid = anvil.transact(
            *(anvil.accounts[1], purse, "pay", anvil.accounts[2], 5), value=5, gasPrice=10**9
        )
        nested = anvil.send(anvil.accounts[0], deep, gas=gas, gasPrice=10**9)
        anvil.mine()
        index = indexing.Indexing(database_url, url).run_until(anvil.head())
        client = index.client()
        for sent, count in ((paid, 1), (nested, most_depth)):
            path = f"/api/v1/transactions/{sent}/internal?limit=1"
            assert client.get(path).get_json()["total"] == count
        trace = client.get(f"/api/v1/transactions/{nested}/trace").get_json()
        assert trace["frameCount"] >= most_depth + 1
        assert trace["frames"][-1]["traceAddress"] == [0] * (len(trace["frames"]) - 1)
        settings = indexing.settings_for(clone(template), url)
        assert backfill(settings, tmp_path / "files", last_block=anvil.head())
        assert table_digest.digest(settings.database_url) == table_digest.digest(database_url)
