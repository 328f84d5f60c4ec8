"""The line of a Vyper source in which a call failed, by releases with several forms of maps."""

from collections import namedtuple
from pathlib import Path

import pytest
from eth_utils import keccak

PATH = "Failing.vy"
SOURCE = Path(__file__).with_name("failing.vy").read_text()
FUNCTIONS = ("check", "plain", "raised", "sum_of", "divide", "element", "inside")


Deployed = namedtuple("Deployed", "explorer address")


def source_for(version):
    if version.startswith("0.4"):
        return SOURCE.replace("5 / (n", "5 // (n")
    return SOURCE.replace("max_value(uint256)", "MAX_UINT256") if version < "0.3.4" else SOURCE


OLDER = ("0.4.0", "0.3.10", "0.3.1")
RELEASES = ["0.4.3", *(pytest.param(release, marks=pytest.mark.long) for release in OLDER)]


@pytest.fixture(scope="module", params=RELEASES)
def failing(request, explorer, vyper):
    source = source_for(request.param)
    address = explorer.deploy(vyper.creation_of(request.param, source))
    told = {"language": "vyper", "contractName": f"{PATH}:Failing"}
    answer = explorer.verify(address, source, request.param, **told)
    assert answer.status_code == 200, answer.json
    return Deployed(explorer, address)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_line_of_each_kind_of_failure(failing, name):
    data = f"0x{keccak(text=f'{name}(uint256)')[:4].hex()}{2:064x}"
    sent = failing.explorer.send(failing.address, data, gas=200_000)
    error = failing.explorer.client.get(f"/api/v1/transactions/{sent}").json["error"]
    [number] = [
        number
        for number, line in enumerate(SOURCE.split("\n"), start=1)
        if line.endswith(f"# fails: {name}")
    ]
    location = error["location"]
    assert location is not None, error
    assert (location["file"], location["line"]) == (PATH, number)
    assert location["function"] == ("_inside" if name == "inside" else name)
