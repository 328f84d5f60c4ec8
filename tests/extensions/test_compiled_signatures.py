"""Selectors, topics and values of every kind of type, as the compilers have them: by verified
contracts of several releases, whose functions are called and whose events and errors are real."""

import re
from collections import namedtuple
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.verification.compiler_run import compile_source
from scan.verification.languages.vyper import VYPER
from tests.support.explorer import compilation, standard_input
from tests.support.lists import get, post

OWNER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"
OTHER = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8"
CALLBACK = f"{OWNER}a9059cbb"
WORD = "0x" + 31 * "ab" + "cd"

DECLARED = """
enum Kind { A, B, C }
struct Pair { uint256 a; address b; }
struct Deep { Pair[] pairs; Kind kind; bytes[2] blobs; IThing thing; string text; }
"""
NEWER = """
struct Hook { uint256 id; function(uint256) external returns (uint256) callback; }
type Id is uint64;
"""
PAIR = {"a": "7", "b": OWNER}
PAIRS = [PAIR, {"a": "8", "b": OTHER}]
DEEP = {"pairs": PAIRS, "kind": "2", "blobs": ["0x01", "0x"], "thing": OTHER, "text": "déjà"}
# Types, values, and the release since which a type may be an argument.
TYPES = [
    ("uint8", "255", (0, 4)),
    ("uint", str(2**256 - 1), (0, 4)),
    ("int16", "-32768", (0, 4)),
    ("int", str(-(2**255)), (0, 4)),
    ("bool", True, (0, 4)),
    ("address", OTHER, (0, 4)),
    ("bytes4", "0xa9059cbb", (0, 4)),
    ("bytes32", WORD, (0, 4)),
    ("bytes", "0x" + 33 * "cd", (0, 4)),
    ("string", "ünï", (0, 4)),
    ("uint64[]", ["1", "2"], (0, 4)),
    ("int8[2][]", [["1", "-1"], ["2", "-2"]], (0, 4)),
    ("Kind", "1", (0, 4)),
    ("IThing", OWNER, (0, 4)),
    ("function(uint256) external returns (uint256)", CALLBACK, (0, 5)),
    ("Kind[]", ["0", "2"], (0, 4)),
    ("IThing[2]", [OWNER, OTHER], (0, 4)),
    ("Pair", PAIR, (0, 5)),
    ("Pair[]", PAIRS, (0, 5)),
    ("Deep", DEEP, (0, 5)),
    ("bytes[]", ["0x01", "0x0203"], (0, 5)),
    ("Hook", {"id": "1", "callback": CALLBACK}, (0, 8)),
    ("Id", "5", (0, 8)),
    ("Id[]", ["5", "6"], (0, 8)),
    ("function() external[]", [CALLBACK, CALLBACK], (0, 5)),
    ("address payable", OTHER, (0, 5)),
]
MEMORY = re.compile(r"bytes|string|.*\]|Pair|Deep|Hook")
# A release of each form of signatures and of their encoding; 0.6 has those of 0.5.
SOLC = ("0.4.26", "0.5.16", "0.7.6", "0.8.4", "0.8.28")
OLDER_SOLC = [pytest.param(version, marks=pytest.mark.thorough) for version in SOLC[:-1]]


class Source(namedtuple("Source", "text values user")):
    """`values` are by the functions' names; `user` is the source of a library's user."""


def solidity(version, *, library):
    release = tuple(map(int, version.split(".")))
    chosen = [(n, *of) for n, of in enumerate(TYPES) if of[2] <= release]
    chosen = [of for of in chosen if release >= (0, 8, 8) or of[1].partition("[")[0] != "Id"]
    lines, emits = [], "" if release < (0, 4, 21) else "emit "
    for n, type_, _, _ in chosen:
        taken = f"{type_} memory x" if MEMORY.fullmatch(type_) else f"{type_} x"
        # solc before 0.7 fails on topics of functions.
        has_topic = release >= (0, 7) or not type_.startswith("function")
        topic, given = (f", {type_} indexed hashed", ", x") if has_topic else ("", "")
        lines.append(f"event E{n}({type_} x, uint256 indexed n{topic});")
        result = taken.removesuffix(" x")
        lines.append(f"function f{n}({taken}) public pure returns ({result}) {{ return x; }}")
        if not library:
            lines.append(f"function e{n}({taken}) public {{ {emits}E{n}(x, {n}{given}); }}")
        if release >= (0, 8):
            lines.append(f"error R{n}({type_} x);")
            lines.append(f"function r{n}({taken}) public pure {{ revert R{n}(x); }}")
    if library:
        stored = f"""event Stored(uint256 value); struct Data {{ uint256 n; }}
        function put(Data storage d, uint256 value) public {{ d.n = value; {emits}Stored(value); }}
        """
        lines += [stored, "struct Odd { bool isOdd; }"]
        if release >= (0, 5):  # overloads that the ABI alone does not tell apart
            for struct, result in (("Pair", 1), ("Odd", 2), ("Deep", 3)):
                over = f"function over({struct} memory) public pure returns (uint256)"
                lines.append(f"{over} {{ return {result}; }}")
    declared = DECLARED + (NEWER if release >= (0, 8, 8) else "")
    if release[:2] == (0, 8) and release < (0, 8, 8):
        declared += NEWER.replace("type Id is uint64;", "")
    if release < (0, 5):
        declared = "enum Kind { A, B, C }"
    pragma = "" if release < (0, 5) or release >= (0, 8) else "pragma experimental ABIEncoderV2;"
    thing = "contract IThing { function poke() public; }"
    if release >= (0, 5):
        thing = "interface IThing { function poke() external; }"
    kind = "library" if library else "contract"
    name = "Set" if library else "Types"
    text = f"{pragma}\n{thing}\n{kind} {name} {{\n{declared}\n" + "\n".join(lines) + "\n}\n"
    put = "function put(uint256 value) public { Set.put(data, value); }"
    user = f"library Set {{ {stored} }} contract User {{ Set.Data data; {put} }}" if library else ""
    return Source(text, {str(n): value for n, _, value, _ in chosen}, user)


# Else it would be searched for, with the optimizer first, which takes most of the time.
SETTINGS = {"optimizer": {"enabled": False}}


def verified(explorer, version, source, name, **libraries):
    linked = {"libraries": {"Types.sol": libraries}} if libraries else {}
    standard = standard_input({"Types.sol": source}, **SETTINGS, **linked)
    address = explorer.verified(standard, version, f"Types.sol:{name}")
    output = compilation(version, standard, {"*": {"*": ["evm.methodIdentifiers"]}})
    return address, output["contracts"]["Types.sol"][name]["evm"]["methodIdentifiers"]


def plain(value):
    """A value without names of members."""
    if isinstance(value, dict):
        return [plain(member) for member in value.values()]
    return [plain(item) for item in value] if isinstance(value, list) else value


def check_functions(explorer, address, identifiers, values):
    """Every function is encoded, called and decoded as the compiler says."""
    for text, selector in identifiers.items():
        assert keccak(text=text)[:4].hex() == selector
        name, number = text[0], text[1:].partition("(")[0]
        if name not in "fer" or number not in values:
            continue
        value = values[number]
        call = post(
            explorer.client, f"/contracts/{address}/encode", functionName=text, args=[value]
        )
        assert call["function"] == text and call["data"][2:10] == selector
        [decoded] = post(explorer.client, "/decode", data=call["data"], address=address)[
            "candidates"
        ]
        assert (decoded["signature"], decoded["source"]) == (text, "verified")
        assert decoded["arguments"][0]["value"] == value, text
        if name == "f":
            answer = explorer.call(address, text, value)
            assert answer.status_code == 200, (text, answer.json)
            assert answer.json["result"] == value, text
        if name == "r":
            answer = explorer.call(address, text, value)
            assert answer.status_code == 422, answer.json
            assert answer.json["reason"]["arguments"][0]["value"] == value, (text, answer.json)
            assert answer.json["reason"]["name"] == f"R{number}"


def check_events(explorer, address, identifiers, values):
    numbers = {t: t[1:].partition("(")[0] for t in identifiers if t[0] == "e"}
    sent, sender = {}, explorer.anvil.accounts[0]
    for text, number in ((t, n) for t, n in numbers.items() if n in values):
        body = {"functionName": text, "args": [values[number]]}
        data = post(explorer.client, f"/contracts/{address}/encode", **body)["data"]
        sent[text] = explorer.anvil.send(sender, address, data=data, gas=1_000_000)
    explorer.send(sender, "0x")  # all of them are indexed with the last one
    for text, hash_ in sent.items():
        number, record = numbers[text], get(explorer.client, f"/transactions/{hash_}")
        [log] = record["logs"]
        event = log["event"]
        assert event is not None and event["source"] == "verified", (text, record)
        assert "0x" + keccak(text=event["signature"]).hex() == log["topics"][0]
        first, count, *topics = event["arguments"]
        assert (first["value"], count["value"]) == (values[number], number)
        assert all(topic.get("hashed") or topic["value"] == values[number] for topic in topics)
    assert sent


@pytest.mark.parametrize("version", [*OLDER_SOLC, SOLC[-1]])
def test_every_type_of_solidity(explorer, version):
    source = solidity(version, library=False)
    address, identifiers = verified(explorer, version, source.text, "Types")
    assert len(identifiers) >= 2 * len(source.values)
    check_functions(explorer, address, identifiers, source.values)
    check_events(explorer, address, identifiers, source.values)


# Arguments of a library's function by the type that it has in each overload, since Solidity 0.5.
OVERLOADS = {"Set.Pair": [1, OWNER], "Set.Odd": [True], "Set.Deep": DEEP}


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("version", "overloads"), [(SOLC[0], {}), *((v, OVERLOADS) for v in (SOLC[1], *SOLC[3:]))]
)
def test_every_type_of_a_library(explorer, version, overloads):
    """Hashed by names of types; what it emits in another contract is that one's event."""
    source = solidity(version, library=True)
    library, identifiers = verified(explorer, version, source.text, "Set")
    assert "put(Set.Data storage,uint256)" in identifiers
    check_functions(explorer, library, identifiers, source.values)
    results = [explorer.call(library, f"over({t})", v).json for t, v in overloads.items()]
    assert [result["result"] for result in results] == ["1", "2", "3"][: len(overloads)]
    put = post(
        explorer.client,
        f"/contracts/{library}/encode",
        functionName="put(Set.Data storage,uint256)",
        args=[3, 4],
    )
    assert put["data"][2:10] == identifiers["put(Set.Data storage,uint256)"]
    [decoded] = post(explorer.client, "/decode", data=put["data"], address=library)["candidates"]
    assert [a["value"] for a in decoded["arguments"]] == ["3", "4"]
    chain = int(explorer.anvil.call("eth_chainId"), 16)
    listed = explorer.get(f"/v2/contract/{chain}/{library}?fields=signatures")
    functions = {f["signature"]: f["signatureHash4"] for f in listed["signatures"]["function"]}
    assert functions == {text: f"0x{selector}" for text, selector in identifiers.items()}

    user, _ = verified(explorer, version, source.user, "User", Set=library)
    data = f"0x{keccak(text='put(uint256)')[:4].hex()}{9:064x}"
    sent = explorer.send(user, data, gas=1_000_000)
    doors = [
        explorer.get(f"/api/v1/transactions/{sent}")["logs"][0]["event"],
        explorer.get(f"/api/v1/logs?address={user}")["logs"][0]["event"],
    ]
    for event in doors:
        assert event["signature"] == "Stored(uint256)" and event["source"] == "verified"
        assert event["arguments"][0]["value"] == "9"


VYPER_SOURCE = Path(__file__).with_name("signatures.vy").read_text()


# How a version writes what differs in the source, and its settings.
VYPER_VERSIONS = [
    ("0.3.10", {"deploy": "@external", "e1": "x, x", "flag": "enum"}, {}),
    ("0.4.3", {"deploy": "@deploy", "e1": "x=x, y=x", "flag": "flag"}, {"enable_decimals": True}),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("version", "fields", "settings"), VYPER_VERSIONS)
def test_every_type_of_vyper(explorer, vyper, version, fields, settings):
    text = VYPER_SOURCE.format(**fields)
    decimals = "1.5"
    vyper_types = [
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
    ]
    types = [*vyper_types, ("decimal", decimals), ("DynArray[decimal, 2]", [decimals, decimals])]
    for n, (type_, _) in enumerate(types):
        text += f"@external\n@pure\ndef f{n}(x: {type_}) -> {type_}:\n    return x\n"
    text += "@external\n@pure\ndef fr(x: Rate) -> Rate:\n    return x\n"
    values = {str(n): value for n, (_, value) in enumerate(types)}
    values["r"] = {"name": "euro", "value": decimals}
    creation = vyper.creation_of(version, text, settings)
    address = explorer.deploy(creation, f"{(-15 * 10**9) % 2**256:064x}")
    standard = {"language": "Vyper", "sources": {"Box.vy": {"content": text}}, "settings": settings}
    answer = explorer.verify(address, standard, f"vyper:{version}")
    assert (answer.status_code, answer.json["creationMatch"]) == (200, answer.json["match"])
    check_functions(explorer, address, identifiers_of(vyper, version, standard), values)
    price = explorer.call(address, "price")
    assert price.json["result"] == "-1.5"
    record = explorer.get(f"/api/v1/contracts/{address}")
    assert record["constructor"][0]["value"] == price.json["result"]
    body = {"functionName": "e1", "args": [decimals]}
    data = post(explorer.client, f"/contracts/{address}/encode", **body)["data"]
    sent = explorer.send(address, data, gas=1_000_000)
    event = explorer.get(f"/api/v1/transactions/{sent}")["logs"][0]["event"]
    assert [argument["value"] for argument in event["arguments"]] == [decimals, decimals]
    page = explorer.get(f"/address/{address}?tab=contract&view=read")
    assert all(f"f{number}" in page for number in values) and price.json["result"] in page


def identifiers_of(vyper, version, standard):
    program = vyper.store.find(VYPER.kind.parse_version(version))
    given = {
        **standard,
        "settings": {
            **standard["settings"],
            "outputSelection": {"Box.vy": ["evm.methodIdentifiers"]},
        },
    }
    [contract] = compile_source(program, given, 40.0)["contracts"]["Box.vy"].values()
    return {
        text: n.removeprefix("0x").zfill(8)
        for text, n in contract["evm"]["methodIdentifiers"].items()
    }
