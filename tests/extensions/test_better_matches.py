"""A source that matches better than the stored one, submitted to the interfaces of others, which
refuse what is verified already."""

import json

import pytest

from scan.extensions.blockscout.tests import submissions
from scan.extensions.sourcify.tests import submissions as sourcify
from tests.support.explorer import compiled, standard_input
from tests.support.serving import wait_until

pytestmark = pytest.mark.thorough

PATH, VERSION = "contracts/Maker.sol", "0.8.28"


def submit_to_sourcify(explorer, address, standard):
    body = sourcify.standard_request(stdJsonInput=standard, contractIdentifier=f"{PATH}:Maker")
    answer = sourcify.submit(explorer, address, body)
    return answer.status_code == 202 and sourcify.ended(explorer, answer)


def submit_to_blockscout(explorer, address, standard):
    fields = {
        "compiler_version": f"v{VERSION}",
        "license_type": "mit",
        "contract_name": f"{PATH}:Maker",
        "files[0]": submissions.upload(json.dumps(standard), "input.json"),
    }
    answer = submissions.submit(explorer, address, "standard-input", **fields)
    return answer.status_code == 200 and submissions.outcome(explorer, answer)


@pytest.mark.parametrize("submit", [submit_to_sourcify, submit_to_blockscout])
def test_a_full_creation_match_replaces_a_partial_one(explorer, submit):
    """The source was submitted without its path, which the metadata of a contract inside has."""
    source = f"""pragma solidity ^0.8.0;
    contract Inner {{ string public by = "{submit.__name__}"; }}
    contract Maker {{ Inner public inner = new Inner(); }}"""
    standard = standard_input({PATH: source})
    address = explorer.deploy(compiled(VERSION, standard, PATH, "Maker").creation)
    explorer.verify(address, source, VERSION, contractName="Maker", optimizationUsed=0)

    def matches():
        record = explorer.contract(address).json
        return record["match"], record["creationMatch"]

    assert matches() == ("full", "partial")
    assert submit(explorer, address, standard)
    wait_until(lambda: matches() == ("full", "full"))
    assert not submit(explorer, address, standard)
