"""A proxy is described by the implementation that it has in a simulation, not on the chain."""

from collections import namedtuple
from pathlib import Path

import pytest

from scan.contracts.known_proxies import BEACON_SLOT, IMPLEMENTATION_SLOT
from scan.extensions.explanations.tests.storage.conftest import deploy
from scan.extensions.simulation.tests.simulating import NO_TRACES, NOTHING, lacking, simulate
from tests.support import anvil, expected
from tests.support.explorer import behind

PATH = "contracts/Upgrades.sol"
SOURCE = Path(__file__).with_name("Upgrades.sol").read_text()


class Upgrades(namedtuple("Upgrades", "client proxy beacon of_beacon second")):
    """A proxy of First, another whose beacon names First, and Second."""

    def putting(self, amount, proxy=""):
        return {"to": proxy or self.proxy, "data": anvil.calldata("put(uint256)", amount)}


@pytest.fixture(scope="module")
def upgrades(explorer):
    def deployed(name, *words):
        arguments = "".join(f"{word[2:]:0>64}" for word in words)
        return deploy(explorer, {PATH: SOURCE}, PATH, name, arguments).address

    first, second = deployed("First"), deployed("Second")
    proxy = deployed("Proxy", IMPLEMENTATION_SLOT, first)
    beacon = deployed("Beacon", first)
    of_beacon = deployed("Proxy", BEACON_SLOT, beacon)
    return Upgrades(explorer.client, proxy, beacon, of_beacon, second)


def test_proxies_are_described_by_what_they_have_then_as_expected(upgrades):
    """After an upgrade, by a changed beacon, or as a request says; nothing of it happens."""
    names = {name: getattr(upgrades, name) for name in ("proxy", "beacon", "second")}
    names |= {"other proxy": upgrades.of_beacon, "slot": IMPLEMENTATION_SLOT}
    names |= {f"put {n}": upgrades.putting(n)["data"] for n in (7, 8, 101)}
    names |= {f: anvil.calldata(f"{f}(address)", upgrades.second) for f in ("upgrade", "change")}
    expected.compare(__file__, upgrades.client, names)


@pytest.mark.parametrize("methods", [NO_TRACES, NOTHING])
@pytest.mark.parametrize("kind", ["state", "stateDiff"])
def test_an_overridden_implementation_describes_without_traces(upgrades, explorer, methods, kind):
    overrides = {upgrades.proxy: {kind: {IMPLEMENTATION_SLOT: upgrades.second}}}
    with behind(explorer.settings, lacking(*methods)) as (client, _):
        [put] = simulate(client, upgrades.putting(9), overrides=overrides)
    assert put["status"] is True
    assert put["frames"][0]["function"]["signature"] == "put(uint256)"
    assert put["frames"][0]["function"]["source"] == "verified"
    assert [argument["name"] for argument in put["result"]] == ["before"]
    assert put["assumedProxies"] == []


def test_what_a_node_without_traces_does_not_say_is_named(upgrades, explorer):
    upgrade = anvil.calldata("upgrade(address)", upgrades.second)
    upgrade = {"to": upgrades.proxy, "data": upgrade}
    elsewhere = {upgrades.beacon: {"stateDiff": {"0x0": upgrades.second}}}
    with behind(explorer.settings, lacking(*NO_TRACES)) as (client, _):
        upgraded, put = simulate(client, upgrade, upgrades.putting(7))
        [other] = simulate(client, upgrades.putting(8, upgrades.of_beacon), overrides=elsewhere)
    assert upgraded["assumedProxies"] == []
    assert (put["frames"][0]["function"], put["assumedProxies"]) == (None, [upgrades.proxy])
    assert (other["frames"][0]["function"], other["assumedProxies"]) == (None, [upgrades.of_beacon])
