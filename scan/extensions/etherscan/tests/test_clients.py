"""Tools that verify and look up in Etherscan's form, as published, over a socket."""

import json
import os
import re
from pathlib import Path

import pytest
from eth_utils import keccak
from etherscan import Etherscan
from etherscan.enums.fields_enum import FieldsEnum

from tests.support import anvil, serving, solidity
from tests.support.explorer import standard_input
from tests.support.foundry import (
    CHAIN,
    FOUNDRY,
    KEY,
    PATH,
    SETTINGS,
    VERSION,
    built,
    deployed,
    source,
)

pytestmark = pytest.mark.long

UNSEEN = "0x" + "9d" * 20


def forge_verifies(foundry, served, address, number, *more):
    arguments = ("verify-contract", address, f"{PATH}:Stored", "--watch", "--chain", CHAIN)
    return foundry.forge(number, *arguments, "--verifier-url", served.api, *more)


@pytest.mark.parametrize("verifier", ["custom", "blockscout"])
def test_forge_verifies(limited, foundry, verifier):
    """Within the ten requests that an anonymous client has."""
    number = len(verifier)
    address = deployed(limited.explorer, number)
    done = forge_verifies(foundry, limited, address, number, "--verifier", verifier)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Pass - Verified" in done.stdout
    again = forge_verifies(foundry, limited, address, number, "--verifier", verifier)
    assert again.returncode == 0
    assert "already verified" in again.stdout


def test_forge_verifies_what_it_has_just_created(served, foundry):
    served.explorer.anvil.call("evm_setAutomine", True)
    try:
        node = ("--private-key", KEY, "--rpc-url", served.explorer.anvil.url)
        contract = ("create", f"{PATH}:Stored", "--broadcast", *node, "--constructor-args", "7")
        created = foundry.forge(140, *contract)
        [address] = re.findall(r"Deployed to: (0x\w+)", created.stdout)
        foundry.forge(140, "clean")  # or it asks the publisher for the commit of its own release
        given = ("--verifier", "custom", "--constructor-args", f"{7:064x}")
        done = forge_verifies(foundry, served, address, 140, *given)
    finally:
        served.explorer.anvil.call("evm_setAutomine", False)
    assert done.returncode == 0, done.stdout + done.stderr
    body = served.ask(module="contract", action="getsourcecode", address=address)
    assert body["result"][0]["ConstructorArguments"] == f"{7:064x}"


def test_cast_reads_a_verified_contract(served, foundry):
    address = verified(served, 160)
    explorer = ("--explorer-api-url", served.api, "--explorer-url", served.url, "--chain", CHAIN)
    shown = foundry.cast("source", address, *explorer, "--etherscan-api-key", "any")
    assert shown.returncode == 0, shown.stderr
    assert source(160).strip() in shown.stdout
    missing = foundry.cast("source", UNSEEN, *explorer, "--etherscan-api-key", "any")
    assert missing.returncode != 0
    local = f'local = {{ key = "any", chain = {CHAIN}, url = "{served.api}" }}'
    (foundry.folder / "foundry.toml").write_text(f"{FOUNDRY}\n[etherscan]\n{local}\n")
    shown = foundry.cast("interface", address, "--chain", CHAIN)
    assert shown.returncode == 0, shown.stderr
    assert "function set(uint256 a, address payable" in shown.stdout


def verified(served, number):
    """The address of a verified contract."""
    return served.explorer.verified(standard(number), VERSION, f"{PATH}:Stored", f"{7:064x}")


def standard(number):
    return standard_input({PATH: source(number)}, **SETTINGS)


def test_ethers_and_whatsabi(served):
    explorer = served.explorer
    address = verified(served, 230)
    token = explorer.deploy(anvil.creation_code(solidity.artifact("Coin"), "Harbor", "HBR", 18))
    holder = explorer.anvil.accounts[0]
    transaction = explorer.anvil.call("eth_getBlockByNumber", "latest", False)["transactions"][0]
    balance_of = "0x70a08231" + holder[2:].rjust(64, "0")
    transfer = "0xa9059cbb" + UNSEEN[2:].rjust(64, "0") + f"{10**30:064x}"
    inputs = {"address": address, "token": token, "holder": holder, "transaction": transaction}
    output = solidity.node_script(
        "etherscan_clients.mjs",
        served.api,
        stdin={**inputs, "balanceOf": balance_of, "reverting": transfer},
    )
    node = explorer.anvil
    assert output["blockNumber"] == node.head()
    assert output["balance"] == str(int(node.call("eth_getBalance", holder, "latest"), 16))
    assert output["nonce"] == int(node.call("eth_getTransactionCount", holder, "latest"), 16)
    assert output["code"] == node.call("eth_getCode", token, "latest")
    assert output["block"] == node.call("eth_getBlockByNumber", "0x1", False)["hash"]
    assert output["transaction"].lower() == holder.lower()
    assert output["receipt"] == 1
    assert int(output["call"], 16) == 0
    assert output["revert"]["error"] == "CALL_EXCEPTION", output["revert"]
    assert "set(uint256,address)" in output["contract"]
    assert output["unverified"] is None
    assert output["abi"] == built(230).abi
    assert (output["whatsabi"]["ok"], output["whatsabi"]["name"]) == (True, "Stored")
    assert output["whatsabi_unverified"] is False


def test_wagmi_generates(served, tmp_path):
    contracts = [{"name": "Stored", "address": verified(served, 240)}]
    (tmp_path / "node_modules").symlink_to(solidity.NODE / "node_modules")
    (tmp_path / "package.json").write_text('{"type": "module"}')

    wagmi = Path(__file__).with_name("wagmi.config.js").read_text()

    def generate():
        (tmp_path / "wagmi.config.js").write_text(wagmi % (served.api, json.dumps(contracts)))
        return serving.completed(
            ["node", "node_modules/@wagmi/cli/dist/esm/cli.js", "generate"],
            cwd=tmp_path,
            env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        )

    done = generate()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "storedAbi" in (tmp_path / "generated.js").read_text()
    contracts[0]["address"] = UNSEEN
    done = generate()
    assert "Contract source code not verified" in done.stdout + done.stderr


def test_etherscan_python(served, monkeypatch):
    explorer, address = served.explorer, verified(served, 250)
    person = explorer.anvil.accounts[0]
    monkeypatch.setattr(FieldsEnum, "PREFIX", f"{served.api}?")
    client, whole = Etherscan("any"), {"startblock": 0, "endblock": 99999999, "sort": "asc"}
    wei = str(int(explorer.anvil.call("eth_getBalance", person, "latest"), 16))
    assert client.get_eth_balance(address=person) == wei
    listed = client.get_normal_txs_by_address(address=person, **whole)
    paged = client.get_normal_txs_by_address_paginated(address=person, page=1, offset=2, **whole)
    assert paged == listed[:2] != []
    assert json.loads(client.get_contract_abi(address=address)) == built(250).abi
    assert int(client.get_proxy_block_number(), 16) == explorer.anvil.head()
    with pytest.raises(AssertionError, match="No transactions found"):
        client.get_normal_txs_by_address(address=UNSEEN, **whole)


def test_functions_are_named_by_the_verified_abi(served):
    """Also in lists that were cached before the verification."""
    explorer = served.explorer
    address = deployed(explorer, 270)
    data = "0x" + keccak(text="set(uint256,address)")[:4].hex() + f"{3:064x}{4:064x}"
    sender = explorer.anvil.accounts[1]
    explorer.anvil.receipt_of(explorer.anvil.send(sender, address, data=data))

    def names():
        rows = served.ask(module="account", action="txlist", address=address)["result"]
        assert all(row["methodId"] in (data[:10], "0x60a06040", "0x60806040") for row in rows)
        return [row["functionName"] for row in rows]

    serving.wait_until(lambda: names() == ["", ""])
    explorer.verify(address, standard(270), VERSION, contractName=f"{PATH}:Stored")
    serving.wait_until(lambda: names() == ["", "set(uint256 a, address)"])
