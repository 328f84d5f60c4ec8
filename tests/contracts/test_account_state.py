"""How long a request waits for the node's balances."""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec

import pytest

from scan.contracts import account_state
from scan.errors import UpstreamFailed
from scan.ethereum.served_chain import BlockId
from tests.fixtures import TIMES_OF_NODE
from tests.support import faulty_node
from tests.support.explorer import behind

ADDRESS, BLOCK = bytes(20), BlockId(1, bytes(32))


class Silent:
    """A session whose node never answers, and the seconds for which it is waited for."""

    def __init__(self):
        self.waited_s = []

    def within(self, seconds):
        self.waited_s.append(seconds)
        return self

    def results(self, *_):
        raise UpstreamFailed("The node does not answer.")


@pytest.mark.check
def test_the_node_has_500_ms_for_balances_of_coin_and_of_tokens():
    """The module is loaded anew, since for all other tests conftest.py gives the node more time."""
    spec = find_spec("scan.contracts.account_state")
    assert isinstance(spec, ModuleSpec) and spec.loader
    spec.loader.exec_module(anew := module_from_spec(spec))
    states, node = anew.AccountStates(), Silent()
    assert states.all_at(node, [ADDRESS], BLOCK) == {}
    assert states.words_at(node, [(ADDRESS, "0x")], BLOCK) == {}
    assert node.waited_s == [0.5, 0.5]
    assert states.all_at(node, [ADDRESS], BLOCK, are_stored=False) == {}
    assert node.waited_s[2:] == [3.0]


class Answering(Silent):
    """Of an account whose bytes are a number: so much wei, and code where it is odd."""

    def results(self, calls):
        numbers = [int(call.params[0], 16) % 256 for call in calls]
        answers = {"eth_getBalance": hex, "eth_getCode": lambda n: "0x6001" if n % 2 else "0x"}
        return [answers[call.method](n) for call, n in zip(calls, numbers, strict=True)]


@pytest.mark.check
def test_several_accounts_are_read_at_once():
    addresses, node = [bytes([n] * 20) for n in range(1, 6)], Answering()
    states = account_state.AccountStates().all_at(node, addresses, BLOCK)
    assert [states[a].balance for a in addresses] == [1, 2, 3, 4, 5]
    assert [states[a].is_contract for a in addresses] == [True, False, True, False, True]
    assert len(node.waited_s) == 1


LATE_S = 0.3


def late_balances(calls, forward):
    is_late = any(call["method"] == "eth_getBalance" for call in calls)
    return faulty_node.hang(LATE_S * is_late)(calls, forward)


def test_a_balance_that_was_never_read_is_waited_for(indexed, monkeypatch):
    """Instead of one that was read, an older one is returned."""
    monkeypatch.setattr(account_state, "TIMEOUT_S", LATE_S / (3 * TIMES_OF_NODE))
    never_seen = "0x" + 40 * "7"
    with behind(indexed.settings, late_balances) as (client, _):
        for path in (f"/addresses/{never_seen}", f"/addresses?addresses={never_seen}"):
            response = client.get(f"/api/v1{path}")
            assert response.status_code == 200, response.text
            assert '"balance":"0"' in response.text
