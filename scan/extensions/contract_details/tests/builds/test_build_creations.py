"""The line in which a creation failed, by a build whose contract was never deployed."""

import json
import os
from functools import partial
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
    sent = explorer.send(None, creation(number), gas=1_000_000)
    return explorer.client.get(f"/api/v1/transactions/{sent}").json


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


MALFORMED = {
    "no sources": {"input": {"language": "Solidity"}},
    "sources that are no text": {"input": {"sources": {PATH: {"content": 5}}}},
    "numbers that are none": {"output": {"sources": {PATH: {"id": "x"}, PARENT_PATH: 7}}},
}
MALFORMED_MAPS = {"no text": [5], "too large": "1:2:0:-;" * 600_000}


def require_no_location(explorer, use, folder, info):
    projects.write(folder / "a1.json", info)
    record = failure(explorer, use, folder, 1)
    assert record["error"]["name"] == "Error"
    assert record["error"]["location"] is None


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_build_says_nothing(explorer, use, tmp_path, change):
    folder = build_info(tmp_path)
    info = json.loads((folder / "a1.json").read_text())
    changed = {**info, **change, "output": {**info["output"], **change.get("output", {})}}
    require_no_location(explorer, use, folder, changed)


@pytest.mark.parametrize("source_map", MALFORMED_MAPS.values(), ids=MALFORMED_MAPS)
def test_a_build_with_a_malformed_map_says_nothing(explorer, use, tmp_path, source_map):
    folder = build_info(tmp_path)
    info = json.loads((folder / "a1.json").read_text())
    bytecode = info["output"]["contracts"][PATH]["Refusing"]["evm"]["bytecode"]
    bytecode["sourceMap"] = source_map
    require_no_location(explorer, use, folder, info)


def test_a_file_is_read_once_until_builds_change(explorer, use, tmp_path):
    """A call may fail to create twenty contracts, by a build of 64 MiB."""
    folder = build_info(tmp_path)
    own = build_watch.Builds([folder], listing_share=0)
    own.refresh()
    code = bytes.fromhex(creation(1)[2:])
    hashes = search_hashes(code)
    first = own.find(code, hashes)
    (folder / "a1.json").unlink()
    assert first is not None
    assert own.find(code, hashes) == first
    own.refresh()
    assert own.find(code, hashes) is None


def test_a_build_without_sources_is_read_once(tmp_path):
    """A second reading would have sources, as the file has them by then and looks the same."""
    folder = build_info(tmp_path)
    file = folder / "a1.json"
    whole = file.read_text()
    file.write_text(json.dumps({**json.loads(whole), "input": {}}).ljust(len(whole)))
    state = build_folders.state_of(file)
    own, later = (build_watch.Builds([folder]) for _ in range(2))
    own.refresh()
    code = bytes.fromhex(creation(1)[2:])
    assert own.find(code, search_hashes(code)) is None
    file.write_text(whole)
    os.utime(file, ns=(state.modified_ns, state.modified_ns))
    assert build_folders.state_of(file) == state
    assert own.find(code, search_hashes(code)) is None
    later.refresh()
    assert later.find(code, search_hashes(code)) is not None


def test_a_map_is_not_used_with_the_sources_of_a_later_build(tmp_path):
    folder = build_info(tmp_path)
    own = build_watch.Builds([folder])
    own.refresh()
    info = json.loads((folder / "a1.json").read_text())
    info["input"]["sources"][PATH]["content"] = "// moved\n" + SOURCES[PATH]
    projects.write(folder / "a1.json", info)
    code = bytes.fromhex(creation(1)[2:])
    assert own.find(code, search_hashes(code)) is None


def test_a_build_that_was_removed_says_nothing(explorer, use, tmp_path):
    folder = build_info(tmp_path)
    own = use(folder)
    (folder / "a1.json").unlink()
    sent = explorer.send(None, creation(1), gas=1_000_000)
    assert explorer.client.get(f"/api/v1/transactions/{sent}").json["error"]["location"] is None
    own.refresh()
    code = bytes.fromhex(creation(1)[2:])
    assert own.find(code, search_hashes(code)) is None
    assert own.lengths == []
