"""The line in which a creation failed, by a build whose contract was never deployed."""

import json
import os
from functools import partial, reduce
from operator import getitem
from pathlib import Path

import pytest

from scan.extensions.compiled_sources.creation_codes import search_hashes
from scan.extensions.compiled_sources.mapped_code import BuiltCreations
from scan.extensions.contract_details.builds import build_folders, build_watch
from scan.extensions.contract_details.tests.builds import projects
from tests.support.explorer import compilation, standard_input

PATH, PARENT_PATH = "src/Refusing.sol", "src/Parent.sol"
PROJECT = Path(__file__).with_name("refusing")
SOURCES = {path: (PROJECT / path).read_text() for path in (PARENT_PATH, PATH)}
STANDARD = standard_input(SOURCES, optimizer={"enabled": True, "runs": 200}, evmVersion="cancun")


def contract():
    return compilation(projects.VERSION, STANDARD)["contracts"][PATH]["Refusing"]


def creation(number):
    return f"0x{contract()['evm']['bytecode']['object']}{number:064x}"


def build_info(project):
    info = {"id": "a1", "solcVersion": projects.VERSION, "solcLongVersion": projects.VERSION}
    output = compilation(projects.VERSION, STANDARD)
    return projects.write(project / "out/a1.json", {**info, "input": STANDARD, "output": output})


REFUSING = projects.Project(SOURCES, STANDARD)
TOOLS = {
    "build info": build_info,
    "Hardhat 3": partial(projects.hardhat_3, of=REFUSING),
    "Foundry": partial(projects.foundry, of=REFUSING),
}


@pytest.fixture
def use(explorer, monkeypatch):
    """Let the application know the builds of a folder."""
    services = explorer.app.extensions["scan"]

    def use_folder(folder):
        builds = build_watch.Builds([folder], listing_share=0)
        builds.refresh()
        monkeypatch.setitem(services.sources.of_extensions, BuiltCreations, builds)
        return builds

    return use_folder


def failure(explorer, use, folder, number):
    use(folder)
    return explorer.transact(None, creation(number), gas=1_000_000)


def found(builds):
    """What they have of the creation."""
    code = bytes.fromhex(creation(1)[2:])
    return builds.find(code, search_hashes(code))


def line_of(mark):
    [position] = [
        (path, number)
        for path, source in SOURCES.items()
        for number, line in enumerate(source.split("\n"), 1)
        if line.endswith(f"// fails: {mark}")
    ]
    return position


@pytest.mark.parametrize("tool", TOOLS.values(), ids=TOOLS)
def test_the_line_by_a_build_of_each_tool(explorer, use, tmp_path, tool):
    location = failure(explorer, use, tool(tmp_path), 1)["error"]["location"]
    assert (location["file"], location["line"]) == line_of("own")
    assert (location["address"], location["function"]) == (None, "constructor")


def test_the_line_of_a_parent_in_another_file(explorer, use, tmp_path):
    record = failure(explorer, use, build_info(tmp_path), 2)
    location = record["error"]["location"]
    assert (location["file"], location["line"]) == line_of("parent")
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
def test_a_malformed_build_says_nothing(explorer, use, tmp_path, place, value):
    folder = build_info(tmp_path)
    info = json.loads((folder / "a1.json").read_text())
    *around, last = place.split()
    reduce(getitem, around, info)[last] = value
    projects.write(folder / "a1.json", info)
    error = failure(explorer, use, folder, 1)["error"]
    assert (error["name"], error["location"]) == ("Error", None)


def test_a_file_is_read_once_until_builds_change(explorer, use, tmp_path):
    """A call may fail to create twenty contracts, by a build of 64 MiB."""
    folder = build_info(tmp_path)
    own = build_watch.Builds([folder], listing_share=0)
    own.refresh()
    first = found(own)
    (folder / "a1.json").unlink()
    assert first is not None
    assert found(own) == first
    own.refresh()
    assert found(own) is None


def test_a_build_without_sources_is_read_once(tmp_path):
    """A second reading would have sources, as the file has them by then and looks the same."""
    folder = build_info(tmp_path)
    file = folder / "a1.json"
    whole = file.read_text()
    file.write_text(json.dumps({**json.loads(whole), "input": {}}).ljust(len(whole)))
    state = build_folders.state_of(file)
    own, later = (build_watch.Builds([folder]) for _ in range(2))
    own.refresh()
    assert found(own) is None
    file.write_text(whole)
    os.utime(file, ns=(state.modified_ns, state.modified_ns))
    assert build_folders.state_of(file) == state
    assert found(own) is None
    later.refresh()
    assert found(later) is not None


def test_a_map_is_not_used_with_the_sources_of_a_later_build(tmp_path):
    folder = build_info(tmp_path)
    own = build_watch.Builds([folder])
    own.refresh()
    info = json.loads((folder / "a1.json").read_text())
    info["input"]["sources"][PATH]["content"] = "// moved\n" + SOURCES[PATH]
    projects.write(folder / "a1.json", info)
    assert found(own) is None


def test_a_build_that_was_removed_says_nothing(explorer, use, tmp_path):
    folder = build_info(tmp_path)
    own = use(folder)
    (folder / "a1.json").unlink()
    record = explorer.transact(None, creation(1), gas=1_000_000)
    assert record["error"]["location"] is None
    own.refresh()
    assert found(own) is None
    assert own.lengths == []
