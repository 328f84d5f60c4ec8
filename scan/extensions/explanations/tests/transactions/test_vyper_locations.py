"""The line of a Vyper source in which a call failed, by releases with several forms of maps."""

from collections import namedtuple
from pathlib import Path

import pytest

from tests.support.anvil import calldata
from tests.support.solidity import marked_line

PATH = "Failing.vy"
SOURCE = Path(__file__).with_name("failing.vy").read_text()
SMALL = """
#pragma optimize codesize
@external
@payable
def __default__():
    pass
"""
FUNCTIONS = ("check", "plain", "raised", "sum_of", "divide", "element", "inside", "several")


Deployed = namedtuple("Deployed", "explorer address")


def source_for(version):
    if version.startswith("0.4"):
        return SOURCE.replace("5 / (n", "5 // (n")
    return SOURCE.replace("max_value(uint256)", "MAX_UINT256") if version < "0.3.4" else SOURCE


OLDER = ("0.4.0", "0.3.10", "0.3.1")
RELEASES = [
    "0.4.3",
    "0.4.3 small",
    *(pytest.param(release, marks=pytest.mark.long) for release in OLDER),
]


@pytest.fixture(scope="module", params=RELEASES)
def failing(request, explorer, vyper):
    version, *small = request.param.split()
    source = source_for(version) + (SMALL if small else "")
    return Deployed(explorer, vyper.verified(explorer, version, source, f"{PATH}:Failing"))


def answer(failing, sent, suffix=""):
    return failing.explorer.client.get(f"/api/v1/transactions/{sent}{suffix}").json


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_line_of_each_kind_of_failure(failing, name):
    call = calldata(f"{name}(uint256)", 2)
    sent = failing.explorer.send(failing.address, call, gas=200_000)
    error = answer(failing, sent)["error"]
    location = error["location"]
    assert location is not None, error
    expected = (PATH, marked_line(SOURCE, f"# fails: {name}"))
    assert (location["file"], location["line"]) == expected
    assert location["function"] == ("_inside" if name == "inside" else name)
    lines = answer(failing, sent, "/gas/lines")["lines"]
    assert "__default__" not in {line["function"] for line in lines}


def test_gas_of_the_default_function_is_of_calls_that_run_it(failing):
    sent = failing.explorer.send(failing.address, "0x12345678", gas=200_000)
    functions = {line["function"] for line in answer(failing, sent, "/gas/lines")["lines"]}
    assert ("__default__" in functions) == answer(failing, sent)["status"]
