"""Transfers of a simulated call: how many are shown, and which are none."""

import pytest

from scan.extensions.simulation.tests.simulating import SPENDER, simulate
from tests.support.truth.token_moves import TRANSFER

BATCH = "4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb"
TOPICS = "600160026003"  # PUSH1 each


def emitting_batch(length):
    """TransferBatch with one array as ids and as values."""
    memory = f"604060005260406020526{1}{length:04x}604052"
    return {"code": f"0x{memory}{TOPICS}7f{BATCH}62{0x60 + 32 * length:06x}6000a4"}


@pytest.mark.parametrize("length", [2, 1000, 1001, 5000])
def test_transfers_are_bounded(client, length):
    [outcome] = simulate(client, {"to": SPENDER}, overrides={SPENDER: emitting_batch(length)})
    assert len(outcome["transfers"]) == min(length, 1000)
    assert outcome["truncated"] == (length > 1000)


def test_a_contract_where_coin_is_logged_moves_no_coin(client):
    # Transfer of 7 by two accounts: PUSH1 7 PUSH1 0 MSTORE, topics, PUSH1 32 PUSH1 0 LOG3.
    coin = "0x" + 20 * "ee"  # what eth_simulateV1 names as the emitter of transfers of coin
    moving = {"code": f"0x6007600052{TOPICS[:8]}7f{TRANSFER[2:]}60206000a3"}
    [outcome] = simulate(client, {"to": coin}, overrides={coin: moving})
    [transfer] = outcome["transfers"]
    assert (transfer["tokenAddress"], transfer["value"]) == (coin, "7")
    assert len(outcome["logs"]) == 1
    [empty] = simulate(client, {"to": coin}, overrides={coin: emitting_batch(0)})
    assert empty["transfers"] == []
