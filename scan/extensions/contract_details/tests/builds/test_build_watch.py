"""Contracts that have a build's code are verified by themselves, or decoded by its ABI."""

import json
import os

import pytest
from eth_abi.abi import encode
from eth_utils import keccak

from scan.contracts.abi_decoding import signatures_of
from scan.extensions.contract_details.builds import build_formats, build_watch
from scan.extensions.contract_details.tests.builds.projects import (
    HALVES_PATH,
    SOURCES,
    STORE_PATH,
    Watched,
    creation_of,
    foundry,
    match_of,
    write,
)
from scan.verification.compiler_run import compile_source
from tests.support import WAIT_S, anvil
from tests.support.vyper import NEWEST, source_of


def test_what_was_deployed_before_it_was_built_is_verified(running, tmp_path):
    watched = Watched(running, tmp_path / "out")
    library = running.deploy(creation_of("Halves"))
    watched.step()
    assert match_of(running, library) == (None, None)
    foundry(tmp_path)
    watched.step()
    assert match_of(running, library) == ("full", "Halves")


@pytest.mark.thorough
def test_what_a_process_took_that_died_is_taken_by_another(running, tmp_path, monkeypatch):
    library = running.deploy(creation_of("Halves"))
    first, second = Watched(running, foundry(tmp_path)), Watched(running, tmp_path / "out")
    a_minute_later = Watched(running, tmp_path / "out", others_s=0.0)
    with monkeypatch.context() as dying:
        dying.setattr(build_watch.BuildWatch, "_verify", lambda _: None)
        first.watch.step()
    second.step()
    a_minute_later.step()
    assert match_of(running, library) == (None, None)
    running.execute("UPDATE built_abis SET stored_at = stored_at - interval '2 minutes'")
    second.step()
    assert match_of(running, library) == (None, None)
    a_minute_later.step()
    assert match_of(running, library) == ("full", "Halves")


@pytest.fixture
def uncompiled(running, tmp_path):
    """A contract of a build whose sources are gone."""
    folder = foundry(tmp_path)
    (tmp_path / STORE_PATH).unlink()
    watched = Watched(running, folder)
    library = running.deploy(creation_of("Halves"))
    running.store = running.deploy(creation_of("Store", library), f"{5:064x}")
    watched.step()
    return running


def test_without_the_compiler_s_input_the_build_s_abi_decodes(uncompiled):
    store = uncompiled.store
    assert match_of(uncompiled, store) == (None, None)
    data = anvil.calldata("keep(uint256)", 7)
    page = uncompiled.get(f"/tx/{uncompiled.send(store, data)}")
    assert "keep(uint256)" in page
    assert "decoded with the ABI in the build folder, not compiled here" in page
    failed = uncompiled.send(store, anvil.calldata("keep(uint256)", 101), gas=100_000)
    assert "TooLarge" in uncompiled.get(f"/tx/{failed}")
    first = uncompiled.get(f"/api/v1/decode?address={store}&data={data}")["candidates"][0]
    assert (first["source"], first["signature"]) == ("build", "keep(uint256)")
    assert first["arguments"][0]["name"] == "amount"


def test_functions_of_the_build_s_abi_are_called_before_the_code_is_verified(uncompiled):
    store = uncompiled.store
    assert uncompiled.call(store, "start").json["result"] == "5"
    page = uncompiled.get(f"/address/{store}?tab=contract&view=read")
    assert "the ABI in the build folder, which was not compiled here" in page
    assert "start" in page and "known once the source is verified" not in page
    assert "keep(uint256)" in uncompiled.get(f"/address/{store}?tab=contract&view=write")
    # No other interface says that it is verified.
    assert uncompiled.contract(store).status_code == 404
    refused = uncompiled.call(store, "keep", 1)
    assert (refused.status_code, refused.json["field"]) == (400, "functionName")


def test_a_build_that_lies_verifies_nothing(running, tmp_path):
    """Its code is compared again with what its source compiles to."""
    folder = foundry(tmp_path)
    library = running.deploy(creation_of("Halves"))
    artifact = folder / "Store.sol/Store.json"
    content = json.loads(artifact.read_text())
    code = running.anvil.call("eth_getCode", library, "latest")
    artifact.write_text(json.dumps({**content, "deployedBytecode": {"object": code}}))
    (folder / "Halves.sol/Halves.json").unlink()
    Watched(running, folder).step()
    assert match_of(running, library) == (None, None)
    [claim] = running.get(f"/api/v1/contracts/{library}/claims")["claims"]
    assert "bytes" in claim["reason"]


def test_text_of_a_file_that_the_compiler_quotes_is_in_the_log_alone(running, tmp_path, caplog):
    artifact = foundry(tmp_path / "project") / "Halves.sol/Halves.json"
    content = json.loads(artifact.read_text())
    os.utime(artifact, (1, 1))
    # A newer artifact of the same code, whose source is of another code.
    copy = tmp_path / "copies" / HALVES_PATH
    copy.parent.mkdir(parents=True)
    copy.write_text(other := SOURCES[HALVES_PATH].replace("whole / 2", "whole.hunter2secret"))
    content["metadata"]["sources"][HALVES_PATH]["keccak256"] = f"0x{keccak(text=other).hex()}"
    content["rawMetadata"] = json.dumps(content["metadata"])
    library = running.deploy(creation_of("Halves"))
    Watched(running, write(tmp_path / "copies/Halves.json", content)).step()
    [claim] = running.get(f"/api/v1/contracts/{library}/claims")["claims"]
    assert claim["reason"] == "its source does not compile here; the log says why"
    page = running.get(f"/address/{library}?tab=contract")
    assert claim["reason"] in page and "hunter2secret" not in page
    assert "hunter2secret" in caplog.text


def test_a_build_of_vyper_with_its_input_verifies(running, vyper, tmp_path):
    files = "Vault.vy interfaces/IFeed.vyi lib/maths.vy lib/owned.vy lib/tokens/base.vy".split()
    outputs = ["abi", "evm.bytecode", "evm.deployedBytecode"]
    standard = {
        "language": "Vyper",
        "sources": {path: {"content": source_of(f"vault/{path}", NEWEST)} for path in files},
        "settings": {"enable_decimals": True, "outputSelection": {"Vault.vy": outputs}},
    }
    vyper.install(NEWEST)
    program = vyper.store.find(vyper.store.kind.parse_version(NEWEST))
    output = compile_source(program, standard, WAIT_S)
    write(tmp_path / "out/vault.json", {"input": standard, "output": output})
    creation = output["contracts"]["Vault.vy"]["Vault"]["evm"]["bytecode"]["object"]
    address = running.deploy(creation, encode(["uint256", "string[]"], [9, []]).hex())
    Watched(running, tmp_path / "out").step()
    assert match_of(running, address) == ("full", "Vault")
    assert {*running.contract(address).json["sources"]} == {*standard["sources"]}


PAIR = {"type": "tuple", "components": [{"name": "a", "type": "uint256"}]}
ABI = {"abi": [{"type": "function", "name": "sum", "inputs": [PAIR]}]}
IDENTIFIERS = {"sum(Set.Pair)": "6340205d", "put(Set.Data storage)": "00000000"}
EVM = {"methodIdentifiers": IDENTIFIERS, "deployedBytecode": {"object": "00"}}


@pytest.mark.parametrize(
    "build",
    [{**ABI, **EVM}, {"output": {"contracts": {"a.sol": {"Set": {**ABI, "evm": EVM}}}}}],
    ids=["artifact", "build-info"],
)
def test_a_build_of_a_library_has_the_compiler_s_selectors(build, tmp_path):
    """Hashed by names of structures, which an ABI does not have."""
    (tmp_path / "Set.json").write_text(json.dumps(build))
    [built] = build_formats.contracts_of(tmp_path / "Set.json")
    functions = signatures_of(json.loads(build_watch._abi(built)))
    assert functions[bytes.fromhex("6340205d")] == "sum(Set.Pair)"
    assert sorted(functions.values()) == sorted(IDENTIFIERS)
