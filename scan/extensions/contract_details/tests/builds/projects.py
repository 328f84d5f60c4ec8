"""A project with a library, an immutable and a factory, and its builds as tools write them."""

import json
from collections import namedtuple
from pathlib import Path

from tests.support.explorer import compilation, linked, standard_input

VERSION, LONG_VERSION = "0.8.28", "0.8.28+commit.7893614a"
HALVES_PATH, STORE_PATH = "src/Halves.sol", "src/Store.sol"
PROJECT = Path(__file__).with_name("project")
SOURCES = {path: (PROJECT / path).read_text() for path in (HALVES_PATH, STORE_PATH)}
SETTINGS = {"optimizer": {"enabled": True, "runs": 300}, "evmVersion": "cancun"}
STANDARD = standard_input(SOURCES, **SETTINGS)


class Project(namedtuple("Project", "sources standard")):
    def output(self):
        return compilation(VERSION, self.standard)

    def contracts(self):
        """Each with its path and its name."""
        return [
            (path, name, contract)
            for path, contracts in self.output()["contracts"].items()
            for name, contract in contracts.items()
        ]


STORES = Project(SOURCES, STANDARD)


def creation_of(name, library="0x"):
    path = HALVES_PATH if name == "Halves" else STORE_PATH
    bytecode = STORES.output()["contracts"][path][name]["evm"]["bytecode"]
    return linked(bytecode["object"], library)


def write(file, value):
    """The file's folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
    return file.parent


def _with_prefix(code):
    return {**code, "object": f"0x{code['object']}"}


def foundry(project, of=STORES):
    """An artifact a contract, which has the number of its own file alone; its sources are in the
    project."""
    for path, content in of.sources.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(content)
    for path, name, contract in of.contracts():
        write(
            project / "out" / Path(path).name / f"{name}.json",
            {
                "abi": contract["abi"],
                "bytecode": _with_prefix(contract["evm"]["bytecode"]),
                "deployedBytecode": _with_prefix(contract["evm"]["deployedBytecode"]),
                "methodIdentifiers": {},
                "rawMetadata": contract["metadata"],
                "metadata": json.loads(contract["metadata"]),
                "id": of.output()["sources"][path]["id"],
            },
        )
    write(project / "out/build-info/0123.json", {"id": "0123", "source_id_to_path": {}})
    return project / "out"


def hardhat_3(project, of=STORES):
    name = "solc-0_8_28-a1"
    info = {"id": name, "solcVersion": VERSION, "solcLongVersion": LONG_VERSION}
    folder = project / "artifacts/build-info"
    given = {"_format": "hh3-sol-build-info-1", **info, "input": of.standard}
    write(folder / f"{name}.json", {**given, "userSourceNameMap": {}})
    result = {"_format": "hh3-sol-build-info-output-1", "id": name, "output": of.output()}
    write(folder / f"{name}.output.json", result)
    return project / "artifacts"
