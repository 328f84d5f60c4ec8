"""Values and ABIs of proxies."""

from types import SimpleNamespace

import pytest

from scan.contracts.proxy_contracts import Proxy, delegation_of
from scan.extensions.contract_details import contract_values
from scan.extensions.transaction_details.contract_abis import Block, ContractAbis, Emitter
from scan.queries import contracts
from tests.contracts.test_proxy_kinds import SELECTING, Lying, array


@pytest.mark.check
@pytest.mark.parametrize("answer", ["0x" + "zz" * 32, "0x" + "zz" * 96, array(1)[:-2] + " 1"])
def test_answers_that_are_no_hex_are_not_read_nor_kept(answer):
    abis = ContractAbis(None)
    delegations = {Emitter(b"\1" * 20, Block(1, "0x" + 64 * "1")): delegation_of(SELECTING)}
    for node, proxies in ((Lying(answer), 0), (Lying(array(7)), 1)):
        read = abis._implementations_of(delegations, node)
        assert len(read) == proxies


@pytest.mark.check
def test_of_many_large_facets_not_all_abis_are_read(monkeypatch):
    text = f"[{' ' * 600_000}]"
    monkeypatch.setattr(contracts, "get", lambda *_: SimpleNamespace(interface=text))
    diamond = Proxy("eip2535", b"\1" * 20, (b"\2" * 20,) * 63)
    assert contract_values.implementation_abis(None, diamond) == [[]]
