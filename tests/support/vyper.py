"""Contracts of Vyper, and its own compilers, installed by the product's own way."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scan.settings import Settings
from scan.verification.compiler_run import compile_source
from scan.verification.compiler_store import CompilerStore
from scan.verification.languages.vyper import VYPER
from tests.support.solidity import alone

NEWEST = "0.4.3"
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
def increase(more: uint256):
    self.count += more
"""


def source_for(version: str) -> str:
    release = VYPER.kind.parse_version(version)
    source = BOX if release >= (0, 4, 0) else BOX.replace("@deploy", "@external")
    if release < (0, 3, 1):
        source = source.replace("START: immutable(uint256)\n", "")
        source = source.replace("    START = first + 1\n", "").replace(" + START", "")
    return source


class Vyper:
    """The compilers that a run of the tests installs once, in `directory`; each that is installed
    is linked into the folder of the service's compilers, too."""

    def __init__(self, directory: Path, served: Path) -> None:
        settings = Settings(solc_dir=directory, path=os.environ["PATH"])
        self.store = CompilerStore(settings, VYPER.kind)
        self._served = served

    def install(self, version: str) -> None:
        release = VYPER.kind.parse_version(version)
        self.store.directory.mkdir(exist_ok=True)
        with alone(self.store.directory / version):
            if self.store.find(release) is None:
                assert self.store.install(release) == "PyPI"
        link = self._served / f"vyper-{version}"
        if not link.exists():
            link.symlink_to(self.store.directory / f"vyper-{version}")

    def creation_of(
        self, version: str, source: str, settings: Mapping[str, Any] | None = None
    ) -> str:
        """The creation code, by a run of the compiler itself; where runs differ, by one with a seed
        that verification does not try first."""
        self.install(version)
        release = VYPER.kind.parse_version(version)
        program = self.store.find(release)
        assert program is not None
        selected = {"Box.vy": ["evm.bytecode.object"]}
        standard = {
            "language": "Vyper",
            "sources": {"Box.vy": {"content": source}},
            "settings": {**(settings or {}), "outputSelection": selected},
        }
        options = [] if VYPER.is_reproducible(release) else ["--hash-seed", "3"]
        output = compile_source(program, standard, 40.0, options=options)
        assert "contracts" in output, output
        code: str = output["contracts"]["Box.vy"]["Box"]["evm"]["bytecode"]["object"]
        return code
