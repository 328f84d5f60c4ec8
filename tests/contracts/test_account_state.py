"""How long a request waits for the node's balances."""

from scan.contracts import account_state
from tests.fixtures import TIMES_OF_NODE
from tests.support import faulty_node
from tests.support.explorer import behind


def test_a_balance_that_was_never_read_is_waited_for(indexed, monkeypatch):
    """Instead of one that was read, an older one is returned."""
    late_s = 0.3

    def late_balances(calls, forward):
        is_late = any(call["method"] == "eth_getBalance" for call in calls)
        return faulty_node.hang(late_s * is_late)(calls, forward)

    monkeypatch.setattr(account_state, "TIMEOUT_S", late_s / (3 * TIMES_OF_NODE))
    never_seen = "0x" + 40 * "7"
    with behind(indexed.settings, late_balances) as (client, _):
        for path in (f"/addresses/{never_seen}", f"/addresses?addresses={never_seen}"):
            response = client.get(f"/api/v1{path}")
            assert response.status_code == 200, response.text
            assert '"balance":"0"' in response.text
