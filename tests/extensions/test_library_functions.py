"""Functions of libraries, whose ABIs lack those that change state or take pointers to storage, and
the names of types by which they are hashed: in every door as the compiler has them."""

from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from eth_utils import keccak

from scan.extensions.compiled_sources.compiler_layouts import findings_of
from scan.verification import compiler_run, submission_compilations
from tests.support.explorer import compilation, compiled, standard_input
from tests.support.lists import post

FOLDER = Path(__file__).parent
SETTINGS = {"optimizer": {"enabled": False}}
OWNER = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266"


def library(explorer, version, sources, name):
    """The address of a library, verified, and its selectors by signature."""
    standard = standard_input(sources, **SETTINGS)
    address = explorer.verified(standard, version, f"lib.sol:{name}")
    output = compilation(version, standard, {"*": {"*": ["evm.methodIdentifiers"]}})
    return address, output["contracts"]["lib.sol"][name]["evm"]["methodIdentifiers"]


def check_every_function(explorer, address, identifiers):
    """Calls of zeros, which are values of every type."""
    sent = {
        text: explorer.anvil.send(OWNER, address, data=f"0x{selector}{'00' * 1280}", gas=500_000)
        for text, selector in identifiers.items()
    }
    explorer.send(OWNER, "0x")
    methods = {}
    for text, hash_ in sent.items():
        method = explorer.transaction(hash_)["method"]
        assert method is not None, text
        assert (method["signature"], method["source"]) == (text, "verified")
        methods[text] = method["arguments"]
        data = f"0x{identifiers[text]}{'00' * 1280}"
        decoded = post(explorer.client, "/decode", data=data, address=address)
        assert decoded["candidates"][0]["arguments"] == method["arguments"]
        body = {"functionName": text, "args": [given["value"] for given in method["arguments"]]}
        encoded = post(explorer.client, f"/contracts/{address}/encode", **body)
        assert encoded["data"].startswith(f"0x{identifiers[text]}")
    return methods


@pytest.mark.parametrize(
    "version",
    [
        *([pytest.param(v, marks=pytest.mark.thorough) for v in ("0.5.16", "0.6.12", "0.8.4")]),
        "0.8.28",
    ],
)
def test_every_function_of_a_library(explorer, version):
    header = "pragma solidity >=0.5.0;\n"
    header += "pragma experimental ABIEncoderV2;\n" * (version < "0.8")
    names = {"types.sol": "LibraryTypes.sol", "lib.sol": "LibraryFunctions.sol"}
    sources = {path: header + (FOLDER / name).read_text() for path, name in names.items()}
    address, identifiers = library(explorer, version, sources, "L")
    methods = check_every_function(explorer, address, identifiers)
    named = {text: [argument["name"] for argument in args] for text, args in methods.items()}
    assert named["f08(L.Nest storage,Outer.E,Outer.S,Base.In[2][])"] == ["s", "e", "os", "b"]
    [structure] = methods["f12(Base.S)"]
    assert structure["value"] == {"b": f"0x{0:040x}"}
    _, complete, _ = methods["f07(L.S[] storage,L.Mem,Outer.color)"]
    assert complete["value"].keys() == {"s", "b", "p", "c", "t"}

    libraries = {"libraries": {"lib.sol": {"L": address}}}
    standard = standard_input(sources, **SETTINGS, **libraries)
    user = explorer.verified(standard, version, "lib.sol:Use")
    for call, text, arguments in (
        ("go(uint256)", "add(L.B)", [{"owner": OWNER, "id": "5"}]),
        (
            "pull()",
            "f04(mapping(uint256 => uint256) storage,IERC,Outer.E)",
            ["0", f"0x{7:040x}", "1"],
        ),
    ):
        data = f"0x{keccak(text=call)[:4].hex()}{5:064x}"
        sent = explorer.send(user, data, gas=500_000)
        _, frame = explorer.frames(sent)
        assert frame["function"]["signature"] == text
        assert [a["value"] for a in frame["function"]["arguments"]] == arguments
    answer = explorer.call(address, "add(L.A)", {"price": "5", "amount": "6"})
    assert answer.json["result"] == "5"
    answer = explorer.call(address, "add(L.B)", [OWNER, "6"])
    assert answer.status_code == 400 and "neither view nor pure" in str(answer.json)


def test_types_of_files(explorer):
    sources = {"lib.sol": (FOLDER / "FileTypes.sol").read_text()}
    address, identifiers = library(explorer, "0.8.28", sources, "Newer")
    methods = check_every_function(explorer, address, identifiers)
    [_, points] = methods["g2(color[],point[2])"]
    assert points["value"] == [{"p": "0"}, {"p": "0"}]


@pytest.mark.thorough
def test_a_structure_of_structures_fills_no_memory(explorer):
    """Of 8 to the power of 12 numbers: the ABI has it not, since the function changes state."""
    structures = ["struct S0 { uint256 n; }"]
    for n in range(12):
        members = " ".join(f"S{n}[] m{m};" for m in range(8))
        structures.append(f"struct S{n + 1} {{ {members} }}")
    functions = "function huge(S12 storage s, S12 calldata t) external {} function f() external {}"
    source = f"{' '.join(structures)} library L {{ {functions} }}"
    address, identifiers = library(explorer, "0.8.28", {"lib.sol": source}, "L")
    sent = explorer.transact(address, f"0x{identifiers['f()']}", gas=100_000)
    assert sent["method"]["signature"] == "f()"


def using(explorer, number):
    """The address of a contract that uses a library, and what verifies it."""
    source = (FOLDER / "Using.sol").read_text().replace("4712", str(number))
    standard = standard_input({"a.sol": source}, libraries={"a.sol": {"Of": OWNER}}, **SETTINGS)
    address = explorer.deploy(compiled("0.8.28", standard, "a.sol", "Using").creation)
    name = {"contractName": "a.sol:Using"}
    return address, partial(explorer.verify, address, standard, "0.8.28", **name)


def require_findings(explorer, address):
    """What syntax trees say is stored."""
    at = bytes.fromhex(address[2:])
    [[entries]] = explorer.sql("SELECT entries FROM interfaces WHERE address = %s", at)
    assert [entry["name"] for entry in entries if "library" in entry] == ["Made"]
    layout, _ = findings_of(explorer.database, at, None)
    assert layout["declared"] == {"enum Of.Kind": ["One"]}


def watch(monkeypatch, see):
    """Has a function see the outputs that each compilation selects, before it."""
    compile_source = submission_compilations.compile_source

    def compile_seen(compiler, given, *rest):
        see(str(given["settings"]["outputSelection"]))
        return compile_source(compiler, given, *rest)

    monkeypatch.setattr(submission_compilations, "compile_source", compile_seen)


@pytest.mark.parametrize("which", [1, 2])
def test_what_a_busy_compiler_does_not_say_is_not_left_out(explorer, monkeypatch, which):
    """Its syntax trees: the first are for the interface, the second, if none are kept, for the
    layout of the storage."""
    monkeypatch.setattr(submission_compilations, "MAX_OUTPUTS", 0)
    address, verify = using(explorer, which)
    trees = []

    def be_busy(selection):
        trees.extend(["ast"] * ("ast" in selection))
        if "ast" in selection and len(trees) == which:
            raise compiler_run.busy()

    watch(monkeypatch, be_busy)
    refused = verify()
    assert (refused.status_code, refused.json["code"]) == (503, "unavailable")
    assert explorer.contract(address).status_code == 404
    assert verify().json["match"] == "full"
    require_findings(explorer, address)


def test_after_a_long_search_there_is_time_for_syntax_trees(explorer, monkeypatch):
    address, verify = using(explorer, 3)
    begun = []
    watch(monkeypatch, begun.append)
    clock = SimpleNamespace(monotonic=lambda: 1000.0 + 61 * (len(begun) > 1))
    monkeypatch.setattr(compiler_run, "time", clock)
    assert verify().status_code == 200
    require_findings(explorer, address)


def test_syntax_trees_that_are_too_large_are_told_to_be_missing(explorer, monkeypatch):
    """Of sources of about 850 kB the compiler's output has more values than are parsed at once."""
    _, verify = using(explorer, 4)
    words = ["The compiler's output has more than 500,000 values."]

    def exceed(selection):
        if "ast" in selection and words:
            raise compiler_run.OutOfLimits(*words)

    watch(monkeypatch, exceed)
    answer = verify().json
    said = "What the source's syntax tree says of libraries, enums and namespaces is not known: "
    assert answer["match"] == "full" and answer["message"].endswith(said + words[0])
    words.clear()
    assert "syntax tree" not in verify().json["message"]
