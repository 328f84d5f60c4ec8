"""How long a request waits for the node's balances."""

from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec

import pytest

from scan.errors import UpstreamFailed
from scan.ethereum.served_chain import BlockId

pytestmark = pytest.mark.check

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


def test_the_node_has_500_ms_for_balances_of_coin_and_of_tokens():
    """The module is loaded anew, since for all other tests conftest.py gives the node more time."""
    spec = find_spec("scan.contracts.account_state")
    assert isinstance(spec, ModuleSpec) and spec.loader
    spec.loader.exec_module(account_state := module_from_spec(spec))
    states, node = account_state.AccountStates(), Silent()
    assert states.all_at(node, [ADDRESS], BLOCK) == {}
    assert states.words_at(node, [(ADDRESS, "0x")], BLOCK) == {}
    assert node.waited_s == [0.5, 0.5]
