"""A source that matches better than the stored one, submitted through each interface."""

import itertools
import json

import pytest

from scan.extensions.blockscout.tests import submissions
from scan.extensions.sourcify.tests import submissions as sourcify
from tests.support.explorer import compiled, standard_input
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

PATH = "contracts/Maker.sol"
VERSION = "0.8.28"
NUMBERS = itertools.count(1)


def submit_to_api(explorer, address, standard):
    answer = explorer.verify(address, standard, VERSION, contractName=f"{PATH}:Maker").json
    assert "already stored" not in answer["message"]


def submit_to_page(explorer, address, standard):
    path = f"/address/{address}"
    assert "Verify a source that matches better" in explorer.client.get(f"{path}?tab=contract").text
    form = {"compilerVersion": VERSION, "contractName": f"{PATH}:Maker", "optimizer": "off"}
    source = standard["sources"][PATH]["content"]
    answer = explorer.client.post(f"{path}/verify", data={**form, "source": source})
    assert answer.status_code == 303


def submit_to_sourcify(explorer, address, standard):
    body = sourcify.standard_request(stdJsonInput=standard, contractIdentifier=f"{PATH}:Maker")
    job = sourcify.ended(explorer, sourcify.submit(explorer, address, body))
    matches = job["contract"]["runtimeMatch"], job["contract"]["creationMatch"]
    assert matches == ("exact_match", "exact_match")
    assert sourcify.is_error(sourcify.submit(explorer, address, body), 409, "already_verified")


def submit_to_blockscout(explorer, address, standard):
    def submit():
        fields = {
            "compiler_version": f"v{VERSION}",
            "license_type": "mit",
            "contract_name": f"{PATH}:Maker",
            "files[0]": submissions.upload(json.dumps(standard), "input.json"),
        }
        return submissions.submit(explorer, address, "standard-input", **fields)

    assert submissions.outcome(explorer, submit()) == "Pass - Verified"
    again = submit()
    assert (again.status_code, again.json) == (422, {"message": "Already verified"})


@pytest.fixture
def half(explorer):
    """A contract whose creation code matches partially, and the input that matches fully: the
    source was submitted without its path, which the metadata of a contract inside has, too."""
    source = f"""pragma solidity ^0.8.0;
    contract Inner {{ uint256 public age = {next(NUMBERS)}; }}
    contract Maker {{ Inner public inner = new Inner(); }}"""
    standard = standard_input({PATH: source})
    address = explorer.deploy(compiled(VERSION, standard, PATH, "Maker").creation)
    answer = explorer.verify(address, source, VERSION, contractName="Maker", optimizationUsed=0)
    assert matches(answer.json) == ("full", "partial"), answer.json
    yield address, standard


def matches(record):
    return record["match"], record["creationMatch"]


SUBMISSIONS = [submit_to_api, submit_to_page, submit_to_sourcify, submit_to_blockscout]


@pytest.mark.parametrize("submit", SUBMISSIONS)
def test_a_full_creation_match_replaces_a_partial_one(explorer, half, submit):
    address, standard = half
    submit(explorer, address, standard)
    wait_until(lambda: matches(explorer.contract(address).json) == ("full", "full"))
    page = explorer.get(f"/address/{address}?tab=contract")
    assert "Verify a source that matches better" not in page


def test_a_partial_creation_match_replaces_no_full_one(explorer, half):
    address, standard = half
    submit_to_api(explorer, address, standard)
    source = standard["sources"][PATH]["content"]
    given = {"contractName": "Maker", "optimizationUsed": 0}
    answer = explorer.verify(address, source, VERSION, **given).json
    assert matches(answer) == ("full", "partial") and "already stored" in answer["message"]
    assert matches(explorer.contract(address).json) == ("full", "full")
