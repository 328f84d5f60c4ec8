"""The line in which a creation failed, by a build whose contract was never deployed."""

import json
from functools import partial
from pathlib import Path

import pytest

from scan.extensions.contract_details.builds import build_sources, build_watch
from scan.extensions.contract_details.tests.builds import projects
from scan.extensions.explanations.transactions.compiler_findings import search_hashes
from scan.extensions.explanations.transactions.mapped_code import BuiltCreations
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
        builds = build_watch.Builds([folder])
        builds.refresh()
        monkeypatch.setitem(services.sources.of_extensions, BuiltCreations, builds)
        return builds

    return use_folder


def failure(explorer, use, folder, number):
    use(folder)
    sent = explorer.send(None, creation(number), gas=1_000_000)
    return explorer.client.get(f"/api/v1/transactions/{sent}").json


def line_of(mark):
    [place] = [
        (path, number)
        for path, source in SOURCES.items()
        for number, line in enumerate(source.split("\n"), 1)
        if line.endswith(f"// fails: {mark}")
    ]
    return place


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
    "a map that is no text": {"map": [5]},
    "a map that is too large": {"map": "1:2:0:-;" * 600_000},
    "a map of anything": {"map": "9:9:9:9;::::;x"},
}


@pytest.mark.parametrize("change", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_build_says_nothing(explorer, use, tmp_path, change):
    folder = build_info(tmp_path)
    info = json.loads((folder / "a1.json").read_text())
    if "map" in change:
        bytecode = info["output"]["contracts"][PATH]["Refusing"]["evm"]["bytecode"]
        bytecode["sourceMap"] = change["map"]
    else:
        for name, value in change.items():
            info[name] = {**info[name], **value} if name == "output" else value
    projects.write(folder / "a1.json", info)
    record = failure(explorer, use, folder, 1)
    assert record["error"]["name"] == "Error"
    assert record["error"]["location"] is None


def test_a_file_is_read_once_until_builds_change(explorer, use, tmp_path):
    """A call may fail to create twenty contracts, by a build of 64 MiB."""
    folder = build_info(tmp_path)
    own = build_watch.Builds([folder])
    own.refresh()
    code = bytes.fromhex(creation(1)[2:])
    hashes = search_hashes(code)
    first = own.find(code, hashes)
    (folder / "a1.json").unlink()
    assert first is not None
    assert own.find(code, hashes) == first
    own._next_at = 0
    own.refresh()
    assert own.find(code, hashes) is None


def test_a_build_without_sources_is_read_once(monkeypatch, tmp_path):
    folder = build_info(tmp_path)
    projects.write(
        folder / "a1.json", {**json.loads((folder / "a1.json").read_text()), "input": {}}
    )
    own = build_watch.Builds([folder])
    own.refresh()
    reads = []
    mapped = build_sources.mapped
    monkeypatch.setattr(
        build_sources, "mapped", lambda *given: reads.append(given) or mapped(*given)
    )
    code = bytes.fromhex(creation(1)[2:])
    assert [own.find(code, search_hashes(code)) for _ in range(3)] == [None] * 3
    assert len(reads) == 1


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
    own._next_at = 0
    own.refresh()
    assert own._by_creation == {}
    assert own._bytes == 0
