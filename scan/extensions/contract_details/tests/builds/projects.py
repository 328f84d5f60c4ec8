"""A project with a library, an immutable and a factory, and its builds as tools write them."""

import json
from collections import namedtuple
from pathlib import Path

from scan.extensions.contract_details.builds.build_folders import list_files
from scan.extensions.contract_details.builds.build_formats import contracts_of
from scan.extensions.contract_details.builds.build_watch import Builds, BuildWatch
from tests.support.explorer import compilation, linked, standard_input

VERSION, LONG_VERSION = "0.8.28", "0.8.28+commit.7893614a"
HALVES_PATH, STORE_PATH = "src/Halves.sol", "src/Store.sol"
PROJECT = Path(__file__).with_name("project")
SOURCES = {path: (PROJECT / path).read_text() for path in (HALVES_PATH, STORE_PATH)}
SETTINGS = {"optimizer": {"enabled": True, "runs": 300}, "evmVersion": "cancun"}
STANDARD = standard_input(SOURCES, **SETTINGS)
ADDRESS = "0x" + "5a" * 20
CODE = {"object": "0x6000"}
SMALL = {"abi": [], "deployedBytecode": CODE}


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


def built_of(folder, name):
    files = list_files([folder]).files
    return [built for file in files for built in contracts_of(file) if built.name == name]


class Watched:
    """What a process of an explorer's service does with build folders."""

    def __init__(self, explorer, *folders, **options):
        self.explorer = explorer
        services = explorer.app.extensions["scan"]
        builds = Builds(folders, listing_share=0)
        self.watch = BuildWatch(builds, services.writes, services.verifier, **options)

    def step(self):
        """List the folders, and take steps until nothing waits."""
        self.watch.step()
        while self.watch._waiting:
            self.watch.step()


def match_of(explorer, address):
    answer = explorer.contract(address)
    body = answer.json if answer.status_code == 200 else {}
    return body.get("match"), body.get("contractName")
