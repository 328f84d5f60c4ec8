"""Builds as the tools themselves wrote them (recorded/README.md): from deployment to decoded."""

import json
from pathlib import Path

import pytest

from scan.extensions.contract_details.tests.builds.projects import Watched, match_of
from tests.support.anvil import calldata
from tests.support.many_functions import deploy
from tests.support.vyper import blueprint_of

pytestmark = pytest.mark.thorough

RECORDED = Path(__file__).with_name("recorded")
ID = "solc-0_8_28-143bdd0caccc2c025e97eb7ea333ef40f36141fc"
# The files of a project by tool, and the folder that is watched.
TOOLS = {
    "foundry": ("out", {"out/Tally.sol/Tally.json": "foundry.json", "src/Tally.sol": "Tally.sol"}),
    "hardhat 2": ("artifacts", {"artifacts/build-info/f211.json": "hardhat_2.json"}),
    "hardhat 3": (
        "artifacts",
        {
            f"artifacts/build-info/{ID}.json": "hardhat_3.json",
            f"artifacts/build-info/{ID}.output.json": "hardhat_3.output.json",
        },
    ),
}


def built(project, tool):
    folder, files = TOOLS[tool]
    for path, recorded in files.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_bytes((RECORDED / recorded).read_bytes())
    return project / folder


def creation_of(tool):
    """The creation code that the tool deploys."""
    [*_, recorded] = (name for name in TOOLS[tool][1].values() if name.endswith(".json"))
    build = json.loads((RECORDED / recorded).read_text())
    if "output" in build:
        [of_file] = build["output"]["contracts"].values()
        return str(of_file["Tally"]["evm"]["bytecode"]["object"])
    return str(build["bytecode"]["object"])


@pytest.mark.parametrize(("tool", "step"), [*zip(TOOLS, range(100, 103), strict=True)])
def test_what_a_tool_deploys_is_verified_and_decoded(running, tool, step, tmp_path):
    watched = Watched(running, built(tmp_path, tool))
    tally = running.deploy(creation_of(tool), f"{step:064x}")  # which is in the code
    watched.step()
    assert match_of(running, tally) == ("full", "Tally")
    sent = running.transact(tally, calldata("increase()"))
    assert (sent["method"]["name"], sent["method"]["source"]) == ("increase", "verified")
    event = sent["logs"][0]["event"]
    assert (event["signature"], event["arguments"][0]["value"]) == ("Counted(uint256)", str(step))
    assert running.get(f"/api/v1/contracts/{tally}/claims")["claims"] == []


@pytest.mark.parametrize("tool", TOOLS)
def test_a_blueprint_of_a_tool_and_what_is_created_of_it_are_verified(running, tool, tmp_path):
    watched = Watched(running, built(tmp_path, tool))
    blueprint = running.deploy(blueprint_of(creation_of(tool)))
    maker = deploy(running, Path(__file__).with_name("Maker.sol").read_text(), "Maker")
    step = 300 + [*TOOLS].index(tool)
    running.send(maker, calldata("make(address,uint256)", blueprint, step), gas=500_000)
    created = f"/api/v1/contract-creations?factory={maker}"
    [made] = running.get(created)["contractCreations"]
    watched.step()
    for address in (blueprint, made["address"]):
        assert match_of(running, address) == ("full", "Tally")
    assert "ERC-5202" in running.get(f"/address/{blueprint}?tab=contract")
