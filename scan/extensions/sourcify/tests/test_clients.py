"""Tools that verify and look up through Sourcify's API, as published, over a socket."""

import json

import pytest
import requests

from tests.support import WAIT_S, many_functions, solidity
from tests.support.foundry import CHAIN, PATH, VERSION, built, deployed, hardhat_request, source

pytestmark = pytest.mark.long


def forge_arguments(served, path):
    return ["--chain", CHAIN, "--verifier", "sourcify", "--verifier-url", served.url + path]


@pytest.mark.parametrize("path", ["/", "/server/"])
def test_forge_verifies(limited, foundry, path):
    number = len(path)
    address = deployed(limited.explorer, number)
    arguments = ["verify-contract", address, f"{PATH}:Stored", "--watch"]
    done = foundry.forge(number, *arguments, *forge_arguments(limited, path))
    assert done.returncode == 0, done.stdout + done.stderr
    response = requests.get(f"{limited.url}/v2/contract/{CHAIN}/{address}", timeout=WAIT_S)
    assert response.json()["match"] == response.json()["creationMatch"] == "exact_match"
    again = foundry.forge(number, *arguments, *forge_arguments(limited, path))
    assert again.returncode == 0
    assert "already verified" in again.stdout + again.stderr


def hardhat(served, *submissions, polling_s=0.3):
    """The result of each (address, number of the source), in order."""
    requests = [
        {**hardhat_request(number), "contractAddress": address} for address, number in submissions
    ]
    arguments = (f"{served.url}/server", CHAIN, str(polling_s))
    return solidity.node_script("hardhat_sourcify.mjs", *arguments, stdin=requests)


def test_hardhat_verify_verifies(limited):
    """As often as it asks by default, within the ten requests that an anonymous client has."""
    address = deployed(limited.explorer, 40)
    result, again = hardhat(limited, (address, 40), (address, 40), polling_s=3)
    assert (result["before"], result["after"], result["success"]) == (False, True, True)
    assert result["message"] == 'Contract verified with status "exact_match"'
    assert "is already verified" in again["error"]


def test_hardhat_verify_reports_what_does_not_match_or_is_not_indexed(served):
    address = deployed(served.explorer, 50)
    result, missing = hardhat(served, (address, 51), (many_functions.CHECKSUMMED, 51))
    assert (result["after"], result["success"]) == (False, False)
    assert result["message"].startswith("No match in ")
    assert "No contract is indexed" in missing["error"]


def test_whatsabi_finds_contracts(served):
    address = deployed(served.explorer, 60)
    missing = solidity.node_script("look_up.mjs", served.url, CHAIN, address)
    assert (missing["ok"], missing["abi"]) == (False, [])
    [result] = hardhat(served, (address, 60))
    assert result["success"]
    contract = solidity.node_script("look_up.mjs", served.url, CHAIN, address)
    assert (contract["ok"], contract["name"], contract["runs"]) == (True, "Stored", 300)
    assert contract["abi"] == built(60).abi
    assert contract["sources"] == [{"path": PATH, "content": source(60)}]
    assert contract["compilerVersion"].startswith(VERSION)


def test_requests_as_safe_eth_py_and_wagmi_send_them(served):
    address = deployed(served.explorer, 70)
    [result] = hardhat(served, (address, 70))
    assert result["success"]
    safe = requests.get(
        f"{served.url}/server/v2/contract/{CHAIN}/{address}",
        params={"fields": "abi,metadata,compilation.name"},
        timeout=WAIT_S,
    ).json()
    assert (safe["compilation"], safe["abi"]) == ({"name": "Stored"}, built(70).abi)
    assert safe["metadata"] == json.loads(built(70).metadata)
    wagmi = requests.get(
        f"{served.url}/server/v2/contract/{CHAIN}/{address}?fields=abi", timeout=WAIT_S
    )
    assert wagmi.json()["abi"] == safe["abi"]
    chains = requests.get(f"{served.url}/server/chains", timeout=WAIT_S).json()
    assert [chain["chainId"] for chain in chains] == [int(CHAIN)]
