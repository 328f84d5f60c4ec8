"""Contracts of Vyper, compiled by its own compilers from PyPI, deployed, and verified."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scan.settings import Settings
from scan.verification.compiler_run import compile_source
from scan.verification.compiler_store import CompilerStore
from scan.verification.languages.vyper import VYPER
from tests.support.explorer import Explorer
from tests.support.folders import run_folder
from tests.support.solidity import alone

NEWEST = "0.4.3"
OLDER = ("0.2.8", "0.2.16", "0.3.1", "0.3.3", "0.3.4", "0.3.7", "0.3.9", "0.3.10", "0.4.0", "0.4.1")
RELEASES = [NEWEST, *(pytest.param(version, marks=pytest.mark.long) for version in OLDER)]
SEVEN = f"{7:064x}"

BOX = """# Holds a count that only grows.
owner: public(address)
count: public(uint256)
START: immutable(uint256)

@deploy
def __init__(first: uint256):
    self.count = first
    self.owner = msg.sender
    START = first + 1

@external
@view
def total() -> uint256:
    return self.count + START + 1000

@external
def add(more: uint256):
    self.count += more
"""


def source_for(version: str) -> str:
    release = VYPER.kind.parse_version(version)
    source = BOX if release >= (0, 4, 0) else BOX.replace("@deploy", "@external")
    if release < (0, 3, 1):
        source = source.replace("START: immutable(uint256)\n", "")
        source = source.replace("    START = first + 1\n", "").replace(" + START", "")
    return source


@pytest.fixture(scope="module")
def vyper(solc_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> CompilerStore:
    """Compilers that this run installs once, in the folder of the service's."""
    settings = Settings(solc_dir=run_folder(tmp_path_factory) / "vyper", path=os.environ["PATH"])
    return CompilerStore(settings, VYPER.kind)


@pytest.fixture
def installed(vyper, solc_dir):
    """Installs a release by the product's own way, for the service of these tests."""

    def install(version: str) -> None:
        release = VYPER.kind.parse_version(version)
        vyper.directory.mkdir(exist_ok=True)
        with alone(vyper.directory / version):
            if vyper.find(release) is None:
                assert vyper.install(release) == "PyPI"
        link = solc_dir / f"vyper-{version}"
        if not link.exists():
            link.symlink_to(vyper.directory / f"vyper-{version}")

    return install


def creation_of(
    vyper: CompilerStore, version: str, source: str, settings: Mapping[str, Any] | None = None
) -> str:
    """The creation code, by a run of the compiler itself."""
    program = vyper.find(VYPER.kind.parse_version(version))
    assert program is not None
    selected = {"Box.vy": ["evm.bytecode.object"]}
    standard = {
        "language": "Vyper",
        "sources": {"Box.vy": {"content": source}},
        "settings": {**(settings or {}), "outputSelection": selected},
    }
    output = compile_source(program, standard, 40.0)
    assert "contracts" in output, output
    code: str = output["contracts"]["Box.vy"]["Box"]["evm"]["bytecode"]["object"]
    return code


@pytest.mark.parametrize("version", RELEASES)
def test_an_equal_source_a_changed_comment_and_a_changed_constant_are_told_apart(
    explorer: Explorer, vyper, installed, version
):
    installed(version)
    source = source_for(version)
    address = explorer.deploy(creation_of(vyper, version, source), SEVEN)
    told = {"language": "vyper", "contractName": "Box.vy:Box"}

    changed = explorer.verify(address, source.replace("1000", "1001"), version, **told)
    assert (changed.status_code, changed.json["code"]) == (422, "verification_failed")

    comment = explorer.verify(address, source.replace("only grows", "shrinks"), version, **told)
    assert (comment.status_code, comment.json["match"]) == (200, "partial"), comment.json

    equal = explorer.verify(address, source, version, **told)
    has_hash = VYPER.kind.parse_version(version) >= (0, 4, 1)
    level = "full" if has_hash else "partial"
    assert (equal.status_code, equal.json["match"]) == (200, level), equal.json
    assert equal.json["creationMatch"] == level

    stored = explorer.contract(address).json
    assert (stored["contractName"], stored["compilerVersion"]) == ("Box", version)
    has_immutable = "START" in source
    assert explorer.call(address, "total").json == {"result": "1015" if has_immutable else "1007"}
    assert stored["constructorArguments"] == f"0x{SEVEN}"


def test_a_source_that_does_not_compile_gets_the_compiler_s_message(explorer, vyper, installed):
    installed(NEWEST)
    address = explorer.deploy(creation_of(vyper, NEWEST, source_for(NEWEST)), SEVEN)
    answer = explorer.verify(address, "x: nothing\n", NEWEST, language="Vyper")
    assert (answer.status_code, answer.json["code"]) == (422, "source_does_not_compile")


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"language": "Fe"}, "must be one of Solidity, Vyper"),
        ({"language": "Vyper", "compilerVersion": "0.1.0"}, "0.2.8 or newer"),
        ({"language": "Vyper", "contractName": "Box.sol:Box"}, "end with .vy"),
    ],
)
def test_what_is_no_vyper_is_refused(explorer, body, message):
    fields = {"version": NEWEST, **body}
    version = fields.pop("compilerVersion", fields.pop("version"))
    answer = explorer.verify("0x" + 40 * "1", BOX, version, **fields)
    assert (answer.status_code, message in answer.json["error"]) == (400, True), answer.json
