"""The contracts of the tests, compiled by npm's solc and kept until a source changes."""

import fcntl
import json
import subprocess
from collections import namedtuple
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from eth_utils import decode_hex

from tests.support import WAIT_S
from tests.support.compile_server import BUILT, SUPPORT, compile_json
from tests.support.serving import completed

NODE = SUPPORT / "node"
SOURCES = SUPPORT / "solidity_sources"
COMPILER = "solc-0.8.28"
SETTINGS = {  # without the optimizer, which takes three times as long as all else
    "evmVersion": "cancun",
    "outputSelection": {"*": {"*": ["abi", "evm.bytecode.object", "evm.deployedBytecode.object"]}},
}

FOR_OLDER_NODES = ("Lives.sol", "Makers.sol", "Purses.sol", "Poison.sol")

# Uniswap publishes the very bytes it deployed; compiling again would only risk others.
UNISWAP = {
    "UniswapV2Factory": "v2-core/build/UniswapV2Factory.json",
    "UniswapV2Pair": "v2-core/build/UniswapV2Pair.json",
    "UniswapV3Factory": "v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
    "UniswapV3Pool": "v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
}


class Artifact(namedtuple("Artifact", "name abi bytecode runtime")):
    """What a compiler makes of one contract; bytecode as it goes into a creation."""


def artifact(name, evm_version=SETTINGS["evmVersion"]):
    return (
        published(name, f"@uniswap/{UNISWAP[name]}")
        if name in UNISWAP
        else _built(evm_version)[name]
    )


def published(name, path):
    """A contract as its authors publish it compiled, in a file of a package."""
    contract = json.loads((NODE / "node_modules" / path).read_text())
    runtime = contract.get("deployedBytecode") or contract["evm"]["deployedBytecode"]["object"]
    return Artifact(name, contract["abi"], decode_hex(contract["bytecode"]), decode_hex(runtime))


@cache
def _built(evm_version):
    sources = {path.name: path.read_text() for path in sorted(SOURCES.glob("*.sol"))}
    if evm_version != SETTINGS["evmVersion"]:  # what older nodes are tested with
        sources = {name: sources[name] for name in FOR_OLDER_NODES}
    return _artifacts(sources, evm_version)


@cache
def of_file(name):
    """The contracts of a file beside these modules, by name."""
    return _artifacts({name: (SUPPORT / name).read_text()}, SETTINGS["evmVersion"])


def _artifacts(sources, evm_version):
    output = compile_standard(sources, settings={**SETTINGS, "evmVersion": evm_version})
    codes = ("bytecode", "deployedBytecode")
    return {
        name: Artifact(name, made["abi"], *(decode_hex(made["evm"][c]["object"]) for c in codes))
        for file in sources
        for name, made in output["contracts"][file].items()
    }


@contextmanager
def alone(path):
    """No other process is in such a block for the same path meanwhile."""
    path.parent.mkdir(exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def standard_input(sources, **settings):
    return {
        "language": "Solidity",
        "sources": {path: {"content": content} for path, content in sources.items()},
        "settings": settings,
    }


def compile_standard(sources, settings=SETTINGS):
    """The standard-JSON output for sources by file name."""
    return npm_output(COMPILER, json.dumps(standard_input(sources, **settings)))


@cache
def npm_output(package, text):
    """What npm's own compiler gives for standard JSON, with imports from node_modules; fails with
    the compiler's own words."""
    compiled = compile_json(package, soljson(package), text.encode())
    assert compiled is not None, f"{package} has thrown"
    output = json.loads(compiled)
    errors = [e["formattedMessage"] for e in output.get("errors", []) if e["severity"] == "error"]
    assert not errors, errors
    return output


@cache
def soljson(package):
    """npm's compiler, unpacked once where it holds its WebAssembly as compressed base64."""
    source = NODE / "node_modules" / package / "soljson.js"
    with source.open() as file:
        if '"wasmBinary"] = (function' not in file.read(100):
            return source
    folder = BUILT / package
    with alone(folder):
        if not folder.exists():
            unfinished = BUILT / f"{package}.unfinished"
            unfinished.mkdir(exist_ok=True)
            command = ["node", str(NODE / "unpack.cjs"), str(source), str(unfinished)]
            subprocess.run(command, check=True, timeout=WAIT_S)
            unfinished.rename(folder)
    return folder / "soljson.js"


def marked_line(source, end):
    """The number of the line that ends so."""
    [number] = [n for n, line in enumerate(source.split("\n"), 1) if line.endswith(end)]
    return number


# The SMT checker never ends on it.
ENDLESS = Path(__file__).with_name("Endless.sol").read_text()


def node_script(name, *arguments, stdin=None):
    """What a script of tests/support/node prints, as JSON; it may read JSON itself."""
    done = completed(["node", str(NODE / name), *arguments], input=json.dumps(stdin), timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
