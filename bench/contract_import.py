"""How many contracts keep their match in an import: `python -m bench.contract_import [COUNT]`.

The contracts are those of public packages (OpenZeppelin, Uniswap v2 and v3) and a plain one in
variants for releases since 0.4.11, each compiled with several settings and deployed on anvil.
Another explorer has verified them: four of five by the source as compiled (a full match), every
fifth with a comment more (a partial one). A third each is imported from it in the forms of
Blockscout, Sourcify and Etherscan, by three commands at once.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

from eth_abi import encode
from werkzeug.serving import make_server

from tests.support.anvil import Anvil
from tests.support.database import Postgres, execute
from tests.support.explorer import Explorer, _output, place_compilers, standard_input
from tests.support.indexing import Indexing
from tests.support.serving import ROOT, in_thread
from tests.support.solidity import NODE
from tests.support.verified_elsewhere import Elsewhere, Verified

MODULES = NODE / "node_modules"
FORMS = {"blockscout": "", "sourcify": "/server", "etherscan": "/api"}
OUTPUTS = ["abi", "metadata", "evm.bytecode.object", "evm.bytecode.linkReferences"]
OPTIMIZERS = tuple(
    {"enabled": on, "runs": runs} for on, runs in ((False, 200), (True, 200), (True, 1))
)
# Release, folders below node_modules, one of which is compiled at once, EVM versions.
OPENZEPPELIN = tuple(f"@openzeppelin/contracts/{name}" for name in ("token", "access", "utils"))
PACKAGES = (
    ("0.8.28", OPENZEPPELIN, ("paris", "cancun")),
    ("0.7.6", ("@uniswap/v3-core/contracts",), ("istanbul",)),
    ("0.5.16", ("@uniswap/v2-core/contracts",), ("istanbul", "petersburg")),
)
PLAIN = """pragma solidity >=0.4.11;
contract Plain {
    uint256 public number = %d;
    address public owner = msg.sender;
    function add(uint256 more) public returns (uint256) { number += more * %d; return number; }
}
"""
OLD = ("0.4.11", "0.4.18", "0.4.24", "0.4.26", "0.5.16", "0.6.12", "0.7.6", "0.8.4", "0.8.28")


def builds() -> Iterator[tuple[str, dict[str, Any]]]:
    """Return releases and standard JSON inputs."""
    for version in OLD:
        for optimizer in OPTIMIZERS:
            files = {f"Plain{n}.sol": PLAIN % (n, n + 3) for n in range(20)}
            yield version, standard_input(files, optimizer=optimizer)
    for version, folders, evm_versions in PACKAGES:
        for folder, evm_version, optimizer in product(folders, evm_versions, OPTIMIZERS):
            files = {
                str(path.relative_to(MODULES)): path.read_text()
                for path in sorted((MODULES / folder).rglob("*.sol"))
                if not {"test", "mocks"} & set(path.relative_to(MODULES).parts)
            }
            yield version, standard_input(files, optimizer=optimizer, evmVersion=evm_version)


def compiled_contracts(version: str, standard: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    """Return path, name, creation code with arguments, and the input with the used sources."""
    settings = {**standard["settings"], "outputSelection": {"*": {"*": OUTPUTS}}}
    output = _output(version, json.dumps({**standard, "settings": settings}))
    faults = [e["message"] for e in output.get("errors", ()) if e["severity"] == "error"]
    if faults:
        print(f"{version}: {len(standard['sources'])} files left out: {faults[0][:90]}")
        return
    for path, contracts in output["contracts"].items():
        for name, contract in contracts.items():
            code = contract["evm"]["bytecode"]
            if not code["object"] or code.get("linkReferences"):
                continue
            metadata = json.loads(contract["metadata"])
            used = {file: {"content": _content(standard, file)} for file in metadata["sources"]}
            version_text = metadata["compiler"]["version"]
            arguments = _arguments(contract["abi"])
            yield (
                path,
                name,
                code["object"] + arguments,
                {**standard, "sources": used},
                version_text,
            )


def _content(standard: dict[str, Any], file: str) -> str:
    own = standard["sources"].get(file)
    return str(own["content"]) if own else (MODULES / file).read_text()


def _arguments(abi: list[dict[str, Any]]) -> str:
    """Return values for the constructor that most constructors take."""
    types = [i["type"] for e in abi if e["type"] == "constructor" for i in e["inputs"]]
    values = {"address": "0x" + "11" * 20, "string": "Name", "bytes": b"", "bool": True}
    try:
        return encode(types, [values.get(kind, [] if "[" in kind else 7) for kind in types]).hex()
    except Exception:  # such as a tuple: the creation then reverts, and is left out
        return ""


def deployed(anvil: Anvil, elsewhere: Elsewhere, count: int) -> None:
    every = [
        (version, *contract)
        for version, standard in builds()
        for contract in compiled_contracts(version, standard)
    ]
    random.Random(1).shuffle(every)
    left_out = 0
    for _, path, name, creation, standard, version in every:
        if len(elsewhere.contracts) == count:
            break
        sent = anvil.send(anvil.accounts[0], None, data=f"0x{creation}", gas=25_000_000)
        receipt = anvil.receipt_of(sent)
        if receipt["status"] != "0x1":
            left_out += 1
            continue
        is_partial = len(elsewhere.contracts) % 5 == 4
        if is_partial:
            content = standard["sources"][path]["content"] + "\n// added later\n"
            sources = {**standard["sources"], path: {"content": content}}
            standard = {**standard, "sources": sources}
        match = "partial" if is_partial else "full"
        address = receipt["contractAddress"]
        elsewhere.add(Verified(address, standard, path, name, version, match))
    print(f"{len(every)} built, {len(elsewhere.contracts)} deployed, {left_out} reverted")


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with (
        Postgres() as postgres,
        tempfile.TemporaryDirectory() as folder,
        Anvil("--disable-code-size-limit") as anvil,
        postgres.cloned(postgres.make_template()) as url,
    ):
        elsewhere = Elsewhere(str(int(anvil.call("eth_chainId"), 16)))
        deployed(anvil, elsewhere, count)
        compilers = place_compilers(Path(folder) / "solc")
        with Indexing(url, anvil.url, solc_dir=compilers, path=os.environ["PATH"]) as indexing:
            explorer = Explorer(anvil, indexing)
            for address in elsewhere.contracts:
                explorer.wait_for(address)
            with in_thread(make_server("127.0.0.1", 0, elsewhere.app, threaded=True)) as url:
                measure(explorer, elsewhere, url, Path(folder))


def measure(explorer: Explorer, elsewhere: Elsewhere, url: str, folder: Path) -> None:
    settings = explorer.settings
    environment = os.environ | {
        "DATABASE_URL": settings.database_url,
        "RPC_URL": settings.rpc_urls[0],
        "SCAN_SOLC_DIR": str(settings.solc_dir),
    }
    addresses = list(elsewhere.contracts)
    began, running = time.monotonic(), []
    for number, (form, path) in enumerate(FORMS.items()):
        file = folder / form
        file.write_text("\n".join(addresses[number::3]))
        command = [sys.executable, "-m", "scan", "contracts", "import", "--rate", "50"]
        command += ["--from", form, url + path, "--addresses", str(file)]
        running.append(subprocess.Popen(command, cwd=ROOT, env=environment))
    for process in running:
        process.wait()
    took = time.monotonic() - began
    rows = execute(
        settings.database_url,
        "SELECT '0x' || encode(address, 'hex'), match FROM verified_contracts",
    )
    stored = dict(rows)
    for number, form in enumerate(FORMS):
        pairs = Counter(
            (elsewhere.contracts[address].match, stored.get(address))
            for address in addresses[number::3]
        )
        print(
            form, {f"{there} -> {here}": n for (there, here), n in sorted(pairs.items(), key=str)}
        )
    print(f"{len(addresses)} contracts in {took:.0f} s")


if __name__ == "__main__":
    main()
