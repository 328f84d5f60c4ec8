"""Bytecode, its disassembly, similar code, creations, proxies, sources as files, compilers."""

import io
import json
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.contracts.proxy_contracts import Proxy
from scan.extensions.contract_details import bytecode, contract_values, source_files
from scan.extensions.contract_details.bytecode import can_reach, disassemble
from scan.extensions.decoding.contract_abis import Block, ContractAbis, Emitter
from scan.queries import contracts
from tests.support.anvil import calldata
from tests.support.database import execute, insert
from tests.support.explorer import compiled, standard_input
from tests.support.many_functions import CHECKSUMMED, VERSION, deploy, verified
from tests.support.proxies import SELECTING, Lying, array, stored

SIMILAR = Path(__file__).with_name("Similar.sol").read_text()


def get(explorer, path, status=200):
    answer = explorer.client.get(f"/api/v1/contracts/{path}")
    assert answer.status_code == status, answer.text[:500]
    return answer.json


@pytest.fixture(scope="module")
def twins(explorer):
    """A verified one, and one with other immutables."""
    addresses = []
    for n, create in ((7, verified), (8, deploy)):
        arguments = encode(["address", "uint256"], [CHECKSUMMED, n]).hex()
        addresses.append(create(explorer, SIMILAR, "Twin", arguments))
    return addresses


def test_code_is_the_nodes_and_says_what_it_is(explorer, twins):
    first, second = twins
    for address in twins:
        code = explorer.anvil.call("eth_getCode", address, "latest")
        held = get(explorer, f"{address}/bytecode")
        assert held["bytecode"] == code and held["size"] == len(code) // 2 - 1
        assert held["codeHash"] == "0x" + keccak(hexstr=code).hex()
        assert held["metadata"]["compilerVersion"] == VERSION
        assert held["metadata"]["hashType"] == "ipfs" and held["delegate"] is None
        assert "disassembly" not in held
    assert get(explorer, f"{first}/bytecode")["verified"] is True
    page = explorer.get(f"/address/{first}?tab=bytecode")
    assert "00000 PUSH1 0x80" in page and f"Solidity {VERSION}" in page
    assert explorer.get(f"/address/{first}/disassembly").startswith("00000 PUSH1 0x80\n")
    held = get(explorer, f"{second}/bytecode")
    assert (held["verified"], held["similarTo"]) == (False, first)


@pytest.mark.check
@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("5b0c", ["00000 JUMPDEST", "00001 UNKNOWN_0x0c"]),
        ("7f0102", ["00000 PUSH32 0x0102 (the code ends here)"]),
        ("60", ["00000 PUSH1 (the code ends here)"]),
        ("60ff5ffe", ["00000 PUSH1 0xff", "00002 PUSH0", "00003 INVALID"]),
        # Operands of stack instructions, as EIP-8024 has them.
        ("e600", ["00000 DUPN 0x00"]),
        ("e6005b", ["00000 DUPN 0x00", "00002 JUMPDEST"]),
        ("e6605b", ["00000 INVALID_DUPN", "00001 PUSH1 0x5b"]),
        ("e812", ["00000 EXCHANGE 0x12"]),
        ("e850", ["00000 INVALID_EXCHANGE", "00001 POP"]),
        ("e8", ["00000 EXCHANGE (the code ends here)"]),
    ],
)
def test_disassembly(code, lines):
    assert [instruction.text() for instruction in disassemble(bytes.fromhex(code))] == lines


METADATA = "a164736f6c634300081a000a"


@pytest.mark.check
@pytest.mark.parametrize(
    ("code", "reached"),
    [
        (f"5f5ffd{METADATA}", False),
        (f"5f{METADATA}", True),  # the instruction before it goes on
        (f"600a56{METADATA.replace('081a', '5b1a')}", True),  # a JUMPDEST in it
        (f"600a56{METADATA.replace('73', '5b')}", False),  # in the data of a PUSH
        (f"6005565bfe61{METADATA}", False),  # read as the data of a PUSH that never runs
        (f"600556005b61{METADATA}", True),
    ],
)
def test_what_reads_as_metadata_may_be_code(code, reached):
    assert can_reach(bytes.fromhex(code), len(code) // 2 - len(METADATA) // 2) == reached


def test_code_in_planted_metadata_is_shown(explorer):
    """28 bytes, of which 5 come before a CBOR map with one value, into which they jump."""
    address = explorer.place("60095600fe" + "a1616b51" + "5b33ff" + "00" * 14 + "0015")
    held = get(explorer, f"{address}/bytecode?disassembly=true")
    assert held["metadata"] is not None
    opcodes = {line["opcode"] for line in held["disassembly"]}
    assert {"JUMPDEST", "CALLER", "SELFDESTRUCT"} < opcodes
    page = explorer.get(f"/address/{address}?tab=bytecode")
    assert "SELFDESTRUCT" in page and "may run as code" in page
    assert "SELFDESTRUCT" in explorer.get(f"/address/{address}/disassembly")


@pytest.mark.check
def test_disassembly_is_bounded():
    assert sum(1 for _ in disassemble(bytes(10**6))) == 65_536


@pytest.mark.parametrize("code", ["ef0001", "ef" * 65_536, "ff", "fe"])
def test_code_of_any_kind_is_shown(explorer, code):
    address = explorer.place(code)
    held = get(explorer, f"{address}/bytecode?disassembly=true")
    assert (held["bytecode"], held["metadata"]) == ("0x" + code, None)
    page = explorer.client.get(f"/address/{address}?tab=bytecode")
    assert page.status_code == 200 and held["disassembly"][0]["opcode"] in page.text
    assert len(page.data) < 50_000  # of the largest contract, too
    whole = explorer.client.get(f"/address/{address}/bytecode")
    assert (whole.text, whole.mimetype) == ("0x" + code, "text/plain")


def test_what_the_index_has_not_is_the_nodes(explorer):
    delegating = "0x" + "d1" * 20
    code = "0xef0100" + "ab" * 20
    explorer.anvil.call("anvil_setCode", delegating, code)
    held = get(explorer, f"{delegating}/bytecode")
    assert (held["bytecode"], held["delegate"]) == (code, "0x" + "ab" * 20)
    assert get(explorer, "0x" + "77" * 20 + "/bytecode", 404)["code"] == "not_found"
    assert get(explorer, "0x12/bytecode", 400)["field"] == "address"
    assert get(explorer, f"{delegating}/bytecode?disassembly=1", 400)["field"] == "disassembly"


def test_a_contract_that_was_created_again_has_its_latest_creation(explorer):
    """However many payments its address had before."""
    again = Path(__file__).with_name("Again.sol").read_text()
    source = standard_input({"Again.sol": again})
    maker = explorer.deploy(compiled(VERSION, source, "Again.sol", "Maker").creation)

    first, _, last = (
        explorer.send(maker, calldata(function), value=2000, gas=25_000_000)
        for function in ("makeAndEnd()", "pay()", "make()")
    )
    made = "0x" + explorer.anvil.receipt_of(first)["logs"][0]["data"][-40:]
    creation = explorer.get(f"/api/v1/addresses/{made}")["creation"]
    assert (creation["transactionHash"], creation["creator"]) == (last, explorer.me)
    assert creation["factory"] == maker


def test_sources_are_files(explorer, twins):
    first = twins[0]
    standard = get(explorer, f"{first}/source")
    assert [source["content"] for source in standard["sources"].values()] == [SIMILAR]
    again = explorer.verify(first, standard, VERSION, contractName="Twin")
    assert (again.status_code, again.json["match"]) == (200, "full"), again.json
    answer = explorer.client.get(f"/api/v1/contracts/{first}/source?format=zip")
    assert answer.mimetype == "application/zip" and first in answer.headers["Content-Disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.data)) as file:
        assert file.testzip() is None
        assert SIMILAR.encode() in [file.read(name) for name in file.namelist()]
        assert json.loads(file.read("standard-input.json")) == standard
    assert get(explorer, f"{first}/source?format=tar", 400)["field"] == "format"
    assert get(explorer, f"{twins[1]}/source", 404)["code"] == "not_found"


@pytest.mark.check
@pytest.mark.parametrize(
    "paths",
    [
        ["A/inner.sol", "a", "a_2", "b/a/c", "B/a"],
        ["standard-input.json/x.sol", "Standard-Input.json/x.sol"],
        ["a/b", "a/b/c", "a/b/c/d", "a"],
        [
            *("../../etc/passwd", "/etc/passwd", "a/../../b.sol", "C:\\Windows\\x", "con", "a\nb"),
            *("x" * 5000, "/".join("y" * 500), "..", "standard-input.json", "STANDARD-INPUT.JSON"),
            "\u202egpj.exe",
        ],
    ],
)
def test_files_of_any_name_can_be_unpacked_and_stay_in_their_folder(paths, tmp_path):
    sources = json.dumps({path: {"content": path} for path in paths})
    fields = dict.fromkeys(contracts.Contract._fields) | {"path": paths[0], "sources": sources}
    content = source_files.archive(contracts.Contract(**fields))
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        names = file.namelist()
        file.extractall(tmp_path)
    folded = [name.casefold() for name in names]
    assert len(set(folded)) == len(paths) + 1
    assert not any(other.startswith(f"{name}/") for name in folded for other in folded)
    written = [path for path in tmp_path.rglob("*") if path.name != "standard-input.json"]
    assert sorted(path.read_text() for path in written if path.is_file()) == sorted(paths)
    for name in names:
        parts = name.split("/")
        assert not name.startswith("/") and ".." not in parts and "" not in parts, name
        assert not set(name) & set("\\:\0\n\u202e") and len(name) <= 220, name
        assert {"con", "nul"}.isdisjoint(part.partition(".")[0] for part in parts), name


@pytest.mark.check
def test_patterns_are_compared_within_a_bound_and_alike_ones_once(monkeypatch):
    """A hundred patterns of verified code of one length, each with hundreds of immutables."""
    code = bytes(range(256)) * 96
    compared = []

    def compare(code, variable):
        compared.append(variable)
        return b"\x01"

    monkeypatch.setattr(bytecode, "masked_hash", compare)
    last = {"address": "0x02", "maskedHash": "0x01", "variable": "[]"}
    alike = {"address": "0x01", "maskedHash": "0x00", "variable": "[]"}
    large = [{**alike, "variable": f"[{n}]" + " " * 10_000} for n in range(98)]
    reader = SimpleNamespace(row=lambda *_, **__: [json.dumps([*[alike] * 99, last])])
    assert (bytecode.similar_to(reader, code), compared) == (b"\x02", ["[]"])
    compared.clear()
    reader.row = lambda *_, **__: [json.dumps([alike, *large, last])]
    assert bytecode.similar_to(reader, code) == b"\x02"
    assert sum(map(len, compared)) <= bytecode.MAX_PATTERN_BYTES


def test_patterns_are_those_of_code_of_the_same_length_that_stands_there(database, database_url):
    """Full matches first, then the oldest; without matches of the runtime code alone."""
    contracts = [(7, "partial"), (8, "full"), (7, "full"), (7, "runtime"), (7, "full")]
    alike = {"masked_hash": bytes(32), "variable_ranges": "[]"}
    for n, (length, match) in enumerate(contracts):
        row = {"address": bytes([n]) * 20, "code_length": length, "match": match}
        insert(database_url, "verified_contracts", **row, **alike)
    gone = "UPDATE verified_contracts SET is_indexed = address <> %s"
    execute(database_url, gone, b"\2" * 20)
    row = database.row("queries/verified_contracts_list_similar", code_length=7)
    assert [record["address"][:4] for record in json.loads(row[1])] == ["0x04", "0x00"]


@pytest.mark.check
@pytest.mark.parametrize("answer", ["0x" + "zz" * 32, "0x" + "zz" * 96, array(1)[:-2] + " 1"])
def test_answers_that_are_no_hex_are_not_read_nor_kept(answer):
    abis = ContractAbis(None)
    delegations = {Emitter(b"\1" * 20, Block(1, "0x" + 64 * "1")): stored(SELECTING)}
    for node, proxies in ((Lying(answer), 0), (Lying(array(7)), 1)):
        assert len(abis._implementations_of(delegations, node)) == proxies


@pytest.mark.check
def test_of_many_large_facets_not_all_abis_are_read(monkeypatch):
    text = f"[{' ' * 600_000}]"
    monkeypatch.setattr(contracts, "get", lambda *_: SimpleNamespace(interface=text))
    diamond = Proxy("eip2535", b"\1" * 20, "claim", (b"\2" * 20,) * 63)
    assert contract_values.implementation_abis(None, diamond) == [[]]
