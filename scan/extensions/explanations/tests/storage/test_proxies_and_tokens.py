"""OpenZeppelin's token and proxy, whose slots are named by the implementation's layout, also where
it gets another. A contract of Vyper."""

import json
import re
from pathlib import Path

import pytest

from scan.extensions.explanations.tests.storage.conftest import OPTIMIZED, VERSION, Deployed, deploy
from tests.support import expected
from tests.support.anvil import calldata
from tests.support.explorer import compiled, from_node_modules, standard_input

WHO = "0x" + 18 * "5e" + "0abc"


def of_openzeppelin(explorer, path, source, name, arguments="", **more):
    """A contract of a source that imports others."""
    metadata = compiled(VERSION, standard_input({path: source}, **OPTIMIZED), path, name).metadata
    imported = [other for other in json.loads(metadata)["sources"] if other != path]
    sources = {path: source, **from_node_modules(*imported)}
    return deploy(explorer, sources, path, name, arguments, **more)


def test_a_token_of_openzeppelin_is_named_as_expected(explorer):
    source = """// SPDX-License-Identifier: MIT
    pragma solidity ^0.8.20;
    import "@openzeppelin/contracts/token/ERC20/ERC20.sol";
    contract Coin is ERC20 { constructor() ERC20("Coin", "COIN") { _mint(msg.sender, 1000); } }"""
    coin = of_openzeppelin(explorer, "Coin.sol", source, "Coin")
    names = {"WHO": WHO, "sender": coin.sender.lower(), "Coin": coin.address}
    for function in ("transfer", "approve"):
        data = calldata(f"{function}(address,uint256)", WHO, 10)
        names[function] = explorer.send(coin.address, data, gas=200_000)
    expected.compare(__file__, explorer.client, names, "openzeppelin")
    values = coin.values() | coin.values(variable=f"_balances[{WHO}]")
    getters = {"_name": ("name",), "_symbol": ("symbol",), "_totalSupply": ("totalSupply",)}
    getters[f"_balances[{WHO}]"] = ("balanceOf", WHO)
    assert {name: values[name] for name in getters} == {
        n: coin.read(*g) for n, g in getters.items()
    }


def test_a_proxy_is_named_by_its_implementations_layouts_as_expected(explorer):
    """Also while it gets another implementation."""
    path = "Upgradeable.sol"
    source = Path(__file__).with_name(path).read_text()
    implementations = {
        name: of_openzeppelin(explorer, path, source, name).address for name in ("First", "Second")
    }
    argument = f"{int(implementations['First'], 16):064x}"
    proxy = Path(__file__).with_name("OwnProxy.sol").read_text()
    own = of_openzeppelin(explorer, "Own.sol", proxy, "Own", argument, is_verified=False)
    names = {"WHO": WHO, "Own": own.address, **implementations}
    upgrade = calldata("upgradeToAndCall(address,bytes)", implementations["Second"], b"")
    names["add"] = explorer.send(own.address, calldata("add(address,uint64)", WHO, 3), gas=900_000)
    names["upgrade"] = explorer.send(own.address, upgrade, gas=900_000)
    expected.compare(__file__, explorer.client, names, "proxies")


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["0.5.16", "0.6.12", "0.7.6", "0.8.4"])
def test_releases_of_solidity(explorer, version):
    source = Path(__file__).with_name("Old.sol").read_text()
    old = deploy(explorer, {"Old.sol": source}, "Old.sol", "Old", version=version)
    account = old.account("set(address,uint256)", WHO, 8)
    names = {v["name"]: v["after"] for slot in account["storage"] for v in slot["variables"]}
    of_old = {"small": "5", "owner": WHO, f"amounts[{WHO}][8]": "-3", "text": "short"}
    assert (names, old.values()["owner"]) == (of_old, WHO)


@pytest.mark.thorough
def test_a_contract_of_vyper_is_named_as_expected(explorer, vyper):
    source = Path(__file__).with_name("token.vy").read_text()
    address = vyper.verified(explorer, "0.4.3", source, "Named.vy:Named")
    named = Deployed(explorer, address)
    sender = named.sender.lower()
    names = {"WHO": WHO, "sender": sender, "Named": address}
    fill = calldata("fill(address,uint256,string)", WHO, 9, "name")
    names["fill"] = explorer.send(address, fill, gas=5_000_000)
    expected.compare(__file__, explorer.client, names, "vyper")
    values = named.values()
    for name in ("total", "text", "mark", "negative", "is_open", "roles", "thing", "price"):
        assert values[name] == named.read(name), name
    require_no_path_of_this_machine(explorer, address, vyper)


def require_no_path_of_this_machine(explorer, address, vyper):
    """In no response about the contract, nor in what refuses a source."""
    own = (str(explorer.settings.solc_dir), str(vyper.store.directory), "scan-solc-", "/packages/")
    client, statuses = explorer.client, []
    for rule in client.application.url_map.iter_rules():
        names = {"address": address, "address_hash": address, "chain_id": "31337"}
        if not {"address", "address_hash"} & rule.arguments or "GET" not in rule.methods:
            continue
        path = re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)
        path = path.format(**dict.fromkeys(rule.arguments, "1") | names)
        has_tabs = path in (f"/address/{address}", f"/token/{address}")
        fields = ["?fields=all"] if "/v2/contract" in path else []
        for more in ("", *(["?tab=contract", "?tab=storage"] if has_tabs else fields)):
            answer = client.get(f"{path}{more}")
            statuses.append(answer.status_code)
            assert not [part for part in own if part in answer.text], path
    assert statuses.count(200) > 50
    for text, version in (("x: Foo\nfrom a import b", "0.4.3"), ("import '/a.sol'; x", "0.8.28")):
        language = {"language": "vyper"} if "x:" in text else {}
        answer = explorer.verify(address, text, version, **language)
        assert answer.status_code == 422 and not [part for part in own if part in answer.text]
