"""Selectors, topics and values of every kind of type, as the compilers have them: by verified
contracts, whose functions are called and whose events and errors are real."""

from pathlib import Path

import pytest
from eth_utils import keccak

from scan.verification.compiler_run import compile_source
from scan.verification.languages.vyper import VYPER
from tests.support.explorer import compilation, standard_input
from tests.support.lists import post

OWNER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
OTHER = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
WORD = "0x" + 31 * "ab" + "cd"


def check_functions(explorer, address, identifiers, values):
    """Every function is encoded, called and decoded as the compiler says."""
    for text, selector in identifiers.items():
        assert keccak(text=text)[:4].hex() == selector
    of_values = {text: text[1:].partition("(")[0] for text in identifiers if text[0] in "fer"}
    for text, value in ((t, values[n]) for t, n in of_values.items() if n in values):
        data = encoded(explorer, address, text, value)
        assert data[2:10] == identifiers[text]
        [decoded] = post(explorer.client, "/decode", data=data, address=address)["candidates"]
        assert (decoded["signature"], decoded["source"]) == (text, "verified")
        assert decoded["arguments"][0]["value"] == value, text
        answer = explorer.call(address, text, value) if text[0] in "fr" else None
        if text[0] == "f":
            assert (answer.status_code, answer.json.get("result")) == (200, value), text
        if text[0] == "r":
            reason = answer.json["reason"]
            assert (answer.status_code, reason["name"]) == (422, f"R{of_values[text]}")
            assert reason["arguments"][0]["value"] == value, (text, answer.json)


def encoded(explorer, address, function, value):
    body = {"functionName": function, "args": [value]}
    return post(explorer.client, f"/contracts/{address}/encode", **body)["data"]


def test_every_type_of_solidity(explorer):
    """Those of libraries: test_library_functions.py."""
    callback = f"{OWNER}a9059cbb"
    declared = """
        enum Kind { A, B, C }
        struct Pair { uint256 a; address b; }
        struct Deep { Pair[] pairs; Kind kind; bytes[2] blobs; IThing thing; string text; }
        struct Hook { uint256 id; function(uint256) external returns (uint256) callback; }
        type Id is uint64;
    """
    pair = {"a": "7", "b": OWNER}
    pairs = [pair, {"a": "8", "b": OTHER}]
    deep = {"pairs": pairs, "kind": "2", "blobs": ["0x01", "0x"], "thing": OTHER, "text": "déjà"}
    types = [
        ("uint8", "255"),
        ("uint", str(2**256 - 1)),
        ("int16", "-32768"),
        ("int", str(-(2**255))),
        ("bool", True),
        ("address", OTHER),
        ("bytes4", "0xa9059cbb"),
        ("bytes32", WORD),
        ("bytes memory", "0x" + 33 * "cd"),
        ("string memory", "ünï"),
        ("uint64[] memory", ["1", "2"]),
        ("int8[2][] memory", [["1", "-1"], ["2", "-2"]]),
        ("Kind", "1"),
        ("IThing", OWNER),
        ("Kind[] memory", ["0", "2"]),
        ("IThing[2] memory", [OWNER, OTHER]),
        ("Pair memory", pair),
        ("Pair[] memory", pairs),
        ("Deep memory", deep),
        ("bytes[] memory", ["0x01", "0x0203"]),
        ("address payable", OTHER),
        ("function(uint256) external returns (uint256)", callback),
        ("function() external[] memory", [callback, callback]),
        ("Hook memory", {"id": "1", "callback": callback}),
        ("Id", "5"),
        ("Id[] memory", ["5", "6"]),
    ]
    lines = ["interface IThing { function poke() external; } contract Types {", declared]
    for n, (taken, _) in enumerate(types):
        type_ = taken.removesuffix(" memory")
        lines += [
            f"event E{n}({type_} x, uint256 indexed n, {type_} indexed hashed);",
            f"error R{n}({type_} x);",
            f"function f{n}({taken} x) public pure returns ({taken}) {{ return x; }}",
            f"function e{n}({taken} x) public {{ emit E{n}(x, {n}, x); }}",
            f"function r{n}({taken} x) public pure {{ revert R{n}(x); }}",
        ]
    values = {str(n): value for n, (_, value) in enumerate(types)}
    # Else it would be searched for, with the optimizer first, which takes most of the time.
    settings = {"optimizer": {"enabled": False}}
    standard = standard_input({"Types.sol": "\n".join([*lines, "}"])}, **settings)
    address = explorer.verified(standard, "0.8.28", "Types.sol:Types")
    output = compilation("0.8.28", standard, {"*": {"*": ["evm.methodIdentifiers"]}})
    identifiers = output["contracts"]["Types.sol"]["Types"]["evm"]["methodIdentifiers"]
    assert len(identifiers) >= 3 * len(values)
    check_functions(explorer, address, identifiers, values)
    sent = {}
    for text in (text for text in identifiers if text[0] == "e"):
        number = text[1:].partition("(")[0]
        data = encoded(explorer, address, text, values[number])
        sent[number] = explorer.anvil.send(explorer.me, address, data=data, gas=10**6)
    explorer.send(explorer.me, "0x")  # all of them are indexed with the last one
    for number, hash_ in sent.items():
        [log] = explorer.transaction(hash_)["logs"]
        event = log["event"]
        assert event is not None and event["source"] == "verified", (number, log)
        assert "0x" + keccak(text=event["signature"]).hex() == log["topics"][0]
        first, count, *topics = event["arguments"]
        assert (first["value"], count["value"]) == (values[number], number)
        assert all(topic.get("hashed") or topic["value"] == values[number] for topic in topics)
    assert sent


@pytest.mark.thorough
def test_every_type_of_vyper(explorer, vyper):
    text = Path(__file__).with_name("signatures.vy").read_text()
    version, decimals, settings = "0.4.3", "1.5", {"enable_decimals": True}
    types = [
        ("uint8", "255"),
        ("int128", "-7"),
        ("uint256", str(2**256 - 1)),
        ("bool", True),
        ("address", OWNER),
        ("bytes4", "0xa9059cbb"),
        ("bytes32", WORD),
        ("Bytes[33]", "0x" + 33 * "cd"),
        ("String[9]", "vyper"),
        ("uint64[2]", ["1", "2"]),
        ("DynArray[int8, 3]", ["1", "-1"]),
        ("Kind", "2"),
        ("Thing", OTHER),
        ("decimal", decimals),
        ("DynArray[decimal, 2]", [decimals, decimals]),
        ("Rate", {"name": "euro", "value": decimals}),
    ]
    for n, (type_, _) in enumerate(types):
        text += f"@external\n@pure\ndef f{n}(x: {type_}) -> {type_}:\n    return x\n"
    address = explorer.deploy(
        vyper.creation_of(version, text, settings), f"{(-15 * 10**9) % 2**256:064x}"
    )
    standard = {"language": "Vyper", "sources": {"Box.vy": {"content": text}}, "settings": settings}
    answer = explorer.verify(address, standard, f"vyper:{version}")
    assert (answer.status_code, answer.json["creationMatch"]) == (200, answer.json["match"])
    values = {str(n): value for n, (_, value) in enumerate(types)}
    selected = {"outputSelection": {"Box.vy": ["evm.methodIdentifiers"]}}
    program = vyper.store.find(VYPER.kind.parse_version(version))
    compiled = compile_source(program, {**standard, "settings": {**settings, **selected}}, 40.0)
    [contract] = compiled["contracts"]["Box.vy"].values()
    identifiers = {
        signature: selector.removeprefix("0x").zfill(8)
        for signature, selector in contract["evm"]["methodIdentifiers"].items()
    }
    check_functions(explorer, address, identifiers, values)
    assert explorer.call(address, "price").json["result"] == "-1.5"
    assert explorer.contract(address).json["constructor"][0]["value"] == "-1.5"
    data = encoded(explorer, address, "e1", decimals)
    [log] = explorer.transact(address, data, gas=1_000_000)["logs"]
    assert [argument["value"] for argument in log["event"]["arguments"]] == [decimals, decimals]
    page = explorer.get(f"/address/{address}?tab=contract&view=read")
    assert all(f"f{number}" in page for number in values) and "-1.5" in page
