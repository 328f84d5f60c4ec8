"""The line in which a creation failed, by a build whose contract was never deployed."""

import json
from functools import reduce
from operator import getitem
from pathlib import Path

import pytest

from scan.extensions.compiled_sources import creation_codes, mapped_code
from scan.extensions.contract_details.builds import build_watch
from scan.extensions.contract_details.tests.builds import projects
from tests.support.explorer import compilation, standard_input

PATH, PARENT_PATH = "src/Refusing.sol", "src/Parent.sol"
PROJECT = Path(__file__).with_name("refusing")
SOURCES = {path: (PROJECT / path).read_text() for path in (PARENT_PATH, PATH)}
STANDARD = standard_input(SOURCES, optimizer={"enabled": True, "runs": 200}, evmVersion="cancun")


def creation(number):
    contract = compilation(projects.VERSION, STANDARD)["contracts"][PATH]["Refusing"]
    return f"0x{contract['evm']['bytecode']['object']}{number:064x}"


def build_info(project):
    info = {"id": "a1", "solcVersion": projects.VERSION, "solcLongVersion": projects.VERSION}
    output = compilation(projects.VERSION, STANDARD)
    return projects.write(project / "out/a1.json", {**info, "input": STANDARD, "output": output})


@pytest.fixture
def failure(explorer, monkeypatch):
    """The record of a creation that failed, where the application knows the builds of a folder."""
    sources = explorer.app.extensions["scan"].sources.of_extensions

    def fail(folder, number):
        builds = build_watch.Builds([folder], listing_share=0)
        builds.refresh()
        monkeypatch.setitem(sources, mapped_code.BuiltCreations, builds)
        return explorer.transact(None, creation(number), gas=1_000_000)

    return fail


def test_the_line_by_a_build(failure, tmp_path):
    location = failure(build_info(tmp_path), 1)["error"]["location"]
    assert (location["file"], location["line"]) == (PATH, 7)
    assert (location["address"], location["function"]) == (None, "constructor")


def test_the_line_of_a_parent_in_another_file(explorer, failure, tmp_path):
    record = failure(build_info(tmp_path), 2)
    location = record["error"]["location"]
    assert (location["file"], location["line"]) == (PARENT_PATH, 5)
    page = explorer.client.get(f"/tx/{record['hash']}").text
    assert "From your build, not compiled here." in page
    assert f'<span data-line="{location["line"]}" class=hit>' in page
    assert "file=src/Parent.sol" not in page  # there is no contract to link to


MAP = f"output contracts {PATH} Refusing evm bytecode sourceMap"
MALFORMED = {
    "no sources": ("input", {"language": "Solidity"}),
    "sources that are no text": ("input sources", {PATH: {"content": 5}}),
    "numbers that are none": ("output sources", {PATH: {"id": "x"}, PARENT_PATH: 7}),
    "a map that is no text": (MAP, [5]),
    "a map that is too large": (MAP, "1:2:0:-;" * 600_000),
}


@pytest.mark.parametrize(("place", "value"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_build_says_nothing(failure, tmp_path, place, value):
    folder = build_info(tmp_path)
    info = json.loads((folder / "a1.json").read_text())
    *around, last = place.split()
    reduce(getitem, around, info)[last] = value
    projects.write(folder / "a1.json", info)
    error = failure(folder, 1)["error"]
    assert (error["name"], error["location"]) == ("Error", None)


def test_a_map_is_not_used_with_the_sources_of_a_later_build(tmp_path):
    folder = build_info(tmp_path)
    own = build_watch.Builds([folder])
    own.refresh()
    info = json.loads((folder / "a1.json").read_text())
    info["input"]["sources"][PATH]["content"] = "// moved\n" + SOURCES[PATH]
    projects.write(folder / "a1.json", info)
    code = bytes.fromhex(creation(1)[2:])
    assert own.find(code, creation_codes.search_hashes(code)) is None
