"""OpenZeppelin's token and proxy, whose slots are named by the implementation's layout, also where
it gets another. A contract of Vyper."""

import json
import re
from pathlib import Path

import pytest

from scan.extensions.explanations.tests.storage.conftest import OPTIMIZED, VERSION, Deployed, deploy
from tests.support.explorer import compiled, from_node_modules, standard_input

OPENZEPPELIN = "@openzeppelin/contracts"
WHO = "0x" + 18 * "5e" + "0abc"
UPGRADEABLE = Path(__file__).with_name("Upgradeable.sol").read_text()
COIN = f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import "{OPENZEPPELIN}/token/ERC20/ERC20.sol";
contract Coin is ERC20 {{ constructor() ERC20("Coin", "COIN") {{ _mint(msg.sender, 1000); }} }}
"""
PROXY = Path(__file__).with_name("OwnProxy.sol").read_text()


def with_imports(path, source, name):
    metadata = compiled(VERSION, standard_input({path: source}, **OPTIMIZED), path, name).metadata
    imported = [other for other in json.loads(metadata)["sources"] if other != path]
    return {path: source, **from_node_modules(*imported)}


def of_openzeppelin(explorer, path, source, name, arguments="", **more):
    return deploy(explorer, with_imports(path, source, name), path, name, arguments, **more)


def test_a_token_of_openzeppelin(explorer):
    coin = of_openzeppelin(explorer, "Coin.sol", COIN, "Coin")
    sender = coin.sender.lower()
    expected = {f"_balances[{sender}]": ("1000", "990"), f"_balances[{WHO}]": ("0", "10")}
    assert coin.changed("transfer(address,uint256)", WHO, 10) == expected
    expected = {f"_allowances[{sender}][{WHO}]": ("0", "5")}
    assert coin.changed("approve(address,uint256)", WHO, 5) == expected
    values = coin.values()
    assert (values["_name"], values["_symbol"]) == (coin.read("name"), coin.read("symbol"))
    assert values["_totalSupply"] == coin.read("totalSupply") == "1000"
    expected = {f"_balances[{WHO}]": coin.read("balanceOf", WHO)}
    assert coin.values(variable=f"_balances[{WHO}]") == expected


@pytest.fixture(scope="module")
def implementations(explorer):
    names = ("First", "Second")
    path = "Upgradeable.sol"
    return {n: of_openzeppelin(explorer, path, UPGRADEABLE, n).address for n in names}


@pytest.fixture
def proxy(explorer, implementations):
    """A test's own, which it may upgrade."""
    argument = f"{int(implementations['First'], 16):064x}"
    return of_openzeppelin(explorer, "Own.sol", PROXY, "Own", argument, is_verified=False)


def test_a_proxy_by_its_implementations_layout(proxy, implementations):
    account = proxy.account("add(address,uint64)", WHO, 3)
    assert account["layouts"] == [implementations["First"]]
    names = {v["name"]: v["after"] for slot in account["storage"] for v in slot["variables"]}
    assert names == {"owner": WHO, "count": "3", f"credits[{WHO}]": "3", "limits.most": "3"}
    values = proxy.values()
    assert values["owner"] == WHO
    assert values["eip1967.proxy.implementation"] == implementations["First"]


def test_the_slot_of_a_proxy_that_gets_another_implementation(proxy, implementations):
    account = proxy.account("upgradeToAndCall(address,bytes)", implementations["Second"], b"")
    [slot] = account["storage"]
    assert [(v["name"], v["before"], v["after"]) for v in slot["variables"]] == [
        ("eip1967.proxy.implementation", implementations["First"], implementations["Second"])
    ]
    assert account["layouts"] == [implementations["Second"], implementations["First"]]


def test_variables_of_a_proxy_itself(explorer, implementations):
    source = PROXY.replace("constructor", "address private guardian = msg.sender; constructor")
    argument = f"{int(implementations['First'], 16):064x}"
    own = of_openzeppelin(explorer, "Own.sol", source, "Own", argument)
    storage = own.storage().json
    assert [known["contractName"] for known in storage["layouts"]] == ["First", "Own"]
    assert own.values()["guardian"] == own.values()["owner"] == own.sender.lower()


OLD = Path(__file__).with_name("Old.sol").read_text()
OF_OLD = {"small": "5", "owner": WHO, f"amounts[{WHO}][8]": "-3", "text": "short"}


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["0.5.16", "0.6.12", "0.7.6", "0.8.4"])
def test_releases_of_solidity(explorer, version):
    old = deploy(explorer, {"Old.sol": OLD}, "Old.sol", "Old", version=version)
    account = old.account("set(address,uint256)", WHO, 8)
    names = {v["name"]: v["after"] for slot in account["storage"] for v in slot["variables"]}
    assert names == OF_OLD
    assert old.values()["owner"] == WHO


@pytest.mark.thorough
def test_a_release_of_solidity_without_layouts(explorer):
    old = deploy(explorer, {"Old.sol": OLD}, "Old.sol", "Old", version="0.4.26")
    account = old.account("set(address,uint256)", WHO, 8)
    assert account["storage"] and not any(slot["variables"] for slot in account["storage"])
    assert account["layouts"] == []
    assert old.storage().status_code == 404


VYPER = Path(__file__).with_name("token.vy").read_text()


@pytest.mark.thorough
def test_a_contract_of_vyper(explorer, vyper):
    address = vyper.verified(explorer, "0.4.3", VYPER, "Named.vy:Named")
    named = Deployed(explorer, address)
    changed = named.changed("fill(address,uint256,string)", WHO, 9, "name")
    after = {name: value for name, (_, value) in changed.items()}
    sender = named.sender.lower()
    assert {name: after[name] for name in after if not name.startswith("text[")} == {
        "total": "9",
        f"balances[{WHO}]": "9",
        f"allowances[{sender}][{WHO}]": "10",
        'named["name"]': "9",
        "text.length": "45",
        "few[2]": "9",
        "many.length": "2",
        "many[0]": "9",
        "many[1]": "10",
        "mark": "0x01020304",
        "negative": "-5",
        "is_open": True,
        "point.x": "9",
        "point.y": "-1",
        "token": WHO,
        f"tokens[{WHO}][1]": WHO,
        f"points[{WHO}].x": "9",
        "roles": "3",
        f"roles_of[{WHO}]": "2",
        "thing": WHO,
        "price": "-1.5",
        "prices[1.25]": "2",
    }
    values = named.values()
    for name in ("total", "text", "mark", "negative", "is_open", "roles", "thing", "price"):
        assert values[name] == named.read(name), name
    assert values["few[2]"] == named.read("few", 2)
    assert values["many[1]"] == named.read("many", 1)
    for path, value in (
        (f"balances[{WHO}]", named.read("balances", WHO)),
        (f"allowances[{sender}][{WHO}]", named.read("allowances", sender, WHO)),
        ("named[name]", named.read("named", "name")),
        (f"roles_of[{WHO}]", named.read("roles_of", WHO)),
        ("prices[1.25]", named.read("prices", "1.25")),
    ):
        assert named.values(variable=path) == {path: value}
    shown = {v["name"]: v for v in named.storage().json["variables"]}
    assert (shown["token"]["type"], shown["token"]["value"]) == ("contract IERC20", WHO)
    assert (shown["roles"]["type"], shown["thing"]["type"]) == ("flag Roles", "contract Thing")
    assert shown["tokens"]["type"] == "HashMap[contract IERC20, contract IERC20[2]]"
    assert named.values(variable=f"points[{WHO}]")[f"points[{WHO}].x"] == "9"
    assert f"lines[{WHO}][1].y" in named.values(variable=f"lines[{WHO}]")
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
