"""Tools that verify and look up through Sourcify's API, as published, over a socket."""

import pytest
import requests

from tests.support import WAIT_S, solidity
from tests.support.foundry import CHAIN, PATH, SETTINGS, VERSION, built, deployed, source

pytestmark = pytest.mark.long


@pytest.mark.parametrize("path", ["/", "/server/"])
def test_forge_verifies(limited, foundry, path):
    number = len(path)
    address = deployed(limited.explorer, number)
    arguments = ["verify-contract", address, f"{PATH}:Stored", "--watch", "--chain", CHAIN]
    arguments += ["--verifier", "sourcify", "--verifier-url", limited.url + path]
    done = foundry.forge(number, *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    response = requests.get(f"{limited.url}/v2/contract/{CHAIN}/{address}", timeout=WAIT_S)
    assert response.json()["match"] == response.json()["creationMatch"] == "exact_match"
    again = foundry.forge(number, *arguments)
    assert again.returncode == 0
    assert "already verified" in again.stdout + again.stderr


def test_whatsabi_finds_contracts(served):
    address = deployed(served.explorer, 60)
    missing = solidity.node_script("look_up.mjs", served.url, CHAIN, address)
    assert (missing["ok"], missing["abi"]) == (False, [])
    given = solidity.standard_input({PATH: source(60)}, **SETTINGS)
    answer = served.explorer.verify(address, given, VERSION, contractName=f"{PATH}:Stored")
    assert answer.status_code == 200, answer.text
    contract = solidity.node_script("look_up.mjs", served.url, CHAIN, address)
    assert (contract["ok"], contract["name"], contract["runs"]) == (True, "Stored", 300)
    assert contract["abi"] == built(60).abi
    assert contract["sources"] == [{"path": PATH, "content": source(60)}]
    assert contract["compilerVersion"].startswith(VERSION)
