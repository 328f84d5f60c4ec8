"""A project with a library, an immutable and a factory, and its builds as tools write them."""

import json
from pathlib import Path

from tests.support.explorer import compilation, standard_input

VERSION, LONG_VERSION = "0.8.28", "0.8.28+commit.7893614a"
HALVES_PATH, STORE_PATH = "src/Halves.sol", "src/Store.sol"
PROJECT = Path(__file__).with_name("project")
SOURCES = {path: (PROJECT / path).read_text() for path in (HALVES_PATH, STORE_PATH)}
SETTINGS = {"optimizer": {"enabled": True, "runs": 300}, "evmVersion": "cancun"}
STANDARD = standard_input(SOURCES, **SETTINGS)


def output():
    return compilation(VERSION, STANDARD)


def creation_of(name, library=None):
    """The creation code, linked to a library at an address."""
    path = HALVES_PATH if name == "Halves" else STORE_PATH
    bytecode = output()["contracts"][path][name]["evm"]["bytecode"]
    code = bytecode["object"]
    for links in bytecode["linkReferences"].values():
        for place in (place for places in links.values() for place in places):
            start, end = 2 * place["start"], 2 * (place["start"] + place["length"])
            code = code[:start] + library.removeprefix("0x") + code[end:]
    return code


def _write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def write_sources(project):
    for path, content in SOURCES.items():
        (project / path).parent.mkdir(parents=True, exist_ok=True)
        (project / path).write_text(content)


def _contracts():
    return [
        (path, name, contract)
        for path, contracts in output()["contracts"].items()
        for name, contract in contracts.items()
    ]


def _with_prefix(code):
    return {**code, "object": f"0x{code['object']}"}


def foundry(project):
    """An artifact a contract; its sources are in the project."""
    write_sources(project)
    for path, name, contract in _contracts():
        _write(
            project / "out" / Path(path).name / f"{name}.json",
            {
                "abi": contract["abi"],
                "bytecode": _with_prefix(contract["evm"]["bytecode"]),
                "deployedBytecode": _with_prefix(contract["evm"]["deployedBytecode"]),
                "methodIdentifiers": {},
                "rawMetadata": contract["metadata"],
                "metadata": json.loads(contract["metadata"]),
                "id": 0,
            },
        )
    _write(project / "out/build-info/0123.json", {"id": "0123", "source_id_to_path": {}})
    return project / "out"


def hardhat_3(project):
    name = "solc-0_8_28-a1"
    info = {"id": name, "solcVersion": VERSION, "solcLongVersion": LONG_VERSION}
    folder = project / "artifacts/build-info"
    given = {"_format": "hh3-sol-build-info-1", **info, "input": STANDARD}
    _write(folder / f"{name}.json", {**given, "userSourceNameMap": {}})
    result = {"_format": "hh3-sol-build-info-output-1", "id": name, "output": output()}
    _write(folder / f"{name}.output.json", result)
    _write_hardhat_artifacts(project, buildInfoId=name)
    return project / "artifacts"


def _write_hardhat_artifacts(project, **more):
    """Write an artifact a contract, and return their paths and names."""
    for path, name, contract in _contracts():
        deployed = contract["evm"]["deployedBytecode"]
        _write(
            project / "artifacts" / path / f"{name}.json",
            {
                "contractName": name,
                "sourceName": path,
                "abi": contract["abi"],
                "bytecode": f"0x{contract['evm']['bytecode']['object']}",
                "deployedBytecode": f"0x{deployed['object']}",
                "linkReferences": {},
                "deployedLinkReferences": {},
                "immutableReferences": deployed["immutableReferences"],
                **more,
            },
        )
    return [(path, name) for path, name, _ in _contracts()]
