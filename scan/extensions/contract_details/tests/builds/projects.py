"""A project with a library, an immutable and a factory, and its builds as tools write them."""

import json
from pathlib import Path

from scan.extensions.contract_details.builds.build_watch import Builds, BuildWatch
from tests.support.explorer import compilation, linked, standard_input

VERSION = "0.8.28"
HALVES_PATH, STORE_PATH = "src/Halves.sol", "src/Store.sol"
PROJECT = Path(__file__).with_name("project")
SOURCES = {path: (PROJECT / path).read_text() for path in (HALVES_PATH, STORE_PATH)}
STANDARD = standard_input(SOURCES, optimizer={"enabled": True, "runs": 300}, evmVersion="cancun")
ADDRESS = "0x" + "5a" * 20
CODE = {"object": "0x6000"}
SMALL = {"abi": [], "deployedBytecode": CODE}


def output():
    return compilation(VERSION, STANDARD)


def creation_of(name, library="0x"):
    path = HALVES_PATH if name == "Halves" else STORE_PATH
    bytecode = output()["contracts"][path][name]["evm"]["bytecode"]
    return linked(bytecode["object"], library)


def write(file, value):
    """The file's folder."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))
    return file.parent


def _with_prefix(code):
    return {**code, "object": f"0x{code['object']}"}


def foundry(project):
    """An artifact a contract, which has the number of its own file alone; its sources are in the
    project."""
    for path, content in SOURCES.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(content)
    for path, contracts in output()["contracts"].items():
        for name, contract in contracts.items():
            write(
                project / "out" / Path(path).name / f"{name}.json",
                {
                    "abi": contract["abi"],
                    "bytecode": _with_prefix(contract["evm"]["bytecode"]),
                    "deployedBytecode": _with_prefix(contract["evm"]["deployedBytecode"]),
                    "methodIdentifiers": {},
                    "rawMetadata": contract["metadata"],
                    "metadata": json.loads(contract["metadata"]),
                    "id": output()["sources"][path]["id"],
                },
            )
    write(project / "out/build-info/0123.json", {"id": "0123", "source_id_to_path": {}})
    return project / "out"


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
