"""What compilers from npm make of sources, and services beside a node that fails."""

import json
import re
import shutil
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace

import pytest

from app import create_app
from scan.verification import sandbox
from tests.support.compile_server import compile_json
from tests.support.faulty_node import FaultyNode
from tests.support.serving import ROOT
from tests.support.solidity import NODE, npm_output, soljson, standard_input  # noqa: F401

OUTPUTS = """
    abi metadata evm.bytecode.object evm.bytecode.linkReferences evm.bytecode.sourceMap
    evm.deployedBytecode.object evm.deployedBytecode.linkReferences
    evm.deployedBytecode.immutableReferences evm.deployedBytecode.sourceMap
    evm.methodIdentifiers storageLayout
""".split()


class Compiled(namedtuple("Compiled", "abi metadata creation runtime")):
    """One contract as npm's compiler gives it; hex, with placeholders where it is not linked."""


@contextmanager
def behind(settings, fault=None):
    """A client of a service over the same index, which remembers nothing, and its node, which fails
    as `fault` says, or as is set later."""
    with FaultyNode(settings.rpc_urls[0], fault) as node:
        yield create_app(replace(settings, rpc_urls=(node.url,))).test_client(), node


def place_compilers(directory, *, unpacked=False):
    """npm's compilers in solc-select's layout, behind the project's own script."""
    for package in sorted((NODE / "node_modules").glob("solc-*")):
        folder = directory / package.name
        folder.mkdir(parents=True)
        shutil.copyfile(ROOT / "scan" / "verification" / "solc.js", folder / package.name)
        (folder / package.name).chmod(0o755)
        source = soljson(package.name) if unpacked else package / "soljson.js"
        (folder / "soljson.js").symlink_to(source)
    return directory


@contextmanager
def compiling_in_server(compilers):
    """The compilers in this folder answer without a process of their own, which takes 30 ms of
    processor, and compile the same input once. Of that, and of its limits, are tests of compilers
    in other folders, and what runs in a process beside the test."""
    plainly = sandbox.Program.run

    def run(program, arguments, folder, timeout_s, stdin=b"", check=lambda: None):
        is_own = compilers in program.executable.parents and "solc-" in program.executable.name
        output = None
        if is_own and [*arguments] == ["--standard-json"]:
            check()
            output = compile_json(program.executable, "-", stdin)
        if output is None:
            return plainly(program, arguments, folder, timeout_s, stdin, check)
        return sandbox.Finished(0, output)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sandbox.Program, "run", run)
        yield


def compilation(version, standard, selection=None):
    """All that npm's own package gives, not the code under test."""
    settings = {**standard["settings"], "outputSelection": selection or {"*": {"*": OUTPUTS}}}
    return npm_output(f"solc-{version}", json.dumps({**standard, "settings": settings}))


def compiled(version, standard, path, name):
    """One contract, selected as a verification selects it, which then has not to be compiled."""
    contract = compilation(version, standard, {path: {name: OUTPUTS}})["contracts"][path][name]
    evm = contract["evm"]
    return Compiled(
        contract.get("abi", []),  # Yul has neither
        contract.get("metadata", "{}"),
        evm["bytecode"]["object"],
        evm["deployedBytecode"]["object"],
    )


def linked(creation, library):
    """Creation code with a library's address in all places of libraries."""
    return re.sub("__.{38}", library[2:].lower(), creation)


def from_node_modules(*paths):
    """Sources by the names under which they import each other, such as @openzeppelin/…"""
    return {path: (NODE / "node_modules" / path).read_text() for path in paths}
