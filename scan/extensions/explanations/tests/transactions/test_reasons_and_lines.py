"""A failing line is one whose statement can have the reason: a table of refusals by ways to compile
them and forms in which they are called. None has a line of another statement."""

import re
from collections import namedtuple
from pathlib import Path

import pytest
from eth_utils import keccak

from scan.extensions.compiled_sources.refusing_statements import MAX_ALIKE
from scan.extensions.explanations.tests.transactions.ways import WAYS, marked_lines
from tests.support.anvil import calldata
from tests.support.explorer import compiled, linked, standard_input
from tests.support.solidity import marked_line

pytestmark = pytest.mark.thorough

FOLDER = Path(__file__).parent
PATHS = ("src/Refusals.sol", "src/Shared.sol")
SOURCES = {path: FOLDER.joinpath(Path(path).name).read_text() for path in PATHS}
SOLC = {**dict.fromkeys(WAYS, "0.8.28"), "older": "0.8.4"}


class Case(namedtuple("Case", "name function argument type value", defaults=("uint256", 0))):
    pass


_CASES = """
    zero one:zero:1 customZero customOne:customZero:1 required requiredOne:required:1
    literal:literals literalTwo:literals:1 twoArguments:literals:2 twice twiceSecond:twice:1
    twiceCustom twiceCustomSecond:twiceCustom:1 inModifier inModifierToo afterBody inherited
    overridden hooked internalLibrary externalLibrary free constantText looped ternary oneOfTwo
    computed computedLikeOther bare bareRevert bareTwice assembled emptyAssembly added addedTwice
    uncheckedFirst divided element asserted converted popped allocated pointer passedOn twoCalls
    ownWords rethrown lowLevel caught child noCode notThere wrongResult decoded transferred
"""
CASES = [
    Case(name, function or name, int(argument or 0))
    for name, function, argument in (f"{case}::".split(":")[:3] for case in _CASES.split())
]
CASES.append(Case("bareNarrow", "bareNarrow", 0, "uint8"))
OF_CALLS = [
    Case("notPayable", "notPayable", 0, value=1),
    Case("narrow", "narrow", 300, "uint8"),
    Case("received", "", 0, value=1),
    Case("fallen", "nowhere", 0),
]
MADE = "\n".join(
    [
        'import {Refusals, Inner} from "./Refusals.sol";',
        "contract Made is Refusals {",
        "constructor(uint256 kind, uint256 n, Inner given) Refusals(given) {",
        *(
            f"if (kind == {number}) {case.function}({case.type}(n));"
            for number, case in enumerate(CASES, 1)
        ),
        "} }",
    ]
)
FORMS = ("called", "proxy", "caller", "creation")
AROUND = {"called": [], "proxy": ["forwarder"], "caller": ["caller"], "creation": []}


def sources_for(version):
    """The sources; an older compiler takes no errors in require()."""
    texts = SOURCES | {"src/Made.sol": MADE}
    if version == "0.8.28":
        return texts
    error = re.compile(r"require\((n != \d), (\w+\(\d?\))\)")
    return {path: error.sub(r"if (!(\1)) revert \2", text) for path, text in texts.items()}


class Deployed(namedtuple("Deployed", "explorer way refusals inner proxy caller creation")):
    def refused(self, form):
        """Transactions that are refused, by their cases."""
        anvil, sent = self.explorer.anvil, {}
        for number, case in enumerate([*CASES, *OF_CALLS], 1):
            to, data = getattr(self, form, self.refusals), "0x"
            if case.function:
                selector = keccak(text=f"{case.function}({case.type})")[:4]
                data = f"0x{selector.hex()}{case.argument:064x}"
            if form == "creation":
                words = f"{number:064x}{case.argument:064x}{int(self.inner, 16):064x}"
                to, data = None, f"0x{self.creation}{words}"
            if form != "creation" or case in CASES:
                fields = {"data": data, "value": hex(case.value), "gas": 3_000_000}
                sent[case] = anvil.send(anvil.accounts[0], to, **fields)
        *_, last = (anvil.receipt_of(hash_) for hash_ in sent.values())
        self.explorer.wait_for_block(int(last["blockNumber"], 16))
        return sent


def deploy(explorer, way):
    version = SOLC[way]
    standard = standard_input(sources_for(version), **WAYS.get(way, WAYS["optimized"]))

    def deployed(name, *words, path=PATHS[0], library="0x", arguments=""):
        creation = linked(compiled(version, standard, path, name).creation, library)
        arguments = arguments + "".join(f"{int(word, 16):064x}" for word in words)
        return explorer.verified(standard, version, f"{path}:{name}", arguments, creation), creation

    library, _ = deployed("Outside", path=PATHS[1])
    inner, _ = deployed("Inner")
    refusals, _ = deployed("Refusals", inner, library=library)
    made = {"path": "src/Made.sol", "library": library}
    _, creation = deployed("Made", "0", "0", inner, **made)
    caller, _ = deployed("Caller", refusals)
    proxy, _ = deployed("Forwarder", refusals, inner)
    return Deployed(explorer, way, refusals, inner, proxy, caller, creation)


# How many refusals at least have their line: of all others only the function is known.
LINES = {
    "plain": (60, 50),
    "optimized": (57, 30),
    "many runs": (57, 30),
    "IR": (55, 40),
    "IR optimized": (34, 8),
    "IR by steps": (33, 8),
    "older": (50, 30),
}
LONG = [pytest.param(way, marks=pytest.mark.long, id=way) for way in LINES if way != "IR optimized"]


@pytest.fixture(scope="module", params=["IR optimized", *LONG])
def deployed(request, explorer):
    return deploy(explorer, request.param)


AT = {
    name: (path, number)
    for path, text in SOURCES.items()
    for name, number in marked_lines(text).items()
}


def function_of(path, number):
    """The function, modifier or the like around a line."""
    pattern = r"\s*(?:function|modifier) (\w+)|\s*(constructor|receive|fallback)\("
    matches = (re.match(pattern, line) for line in SOURCES[path].split("\n")[:number])
    *_, around = filter(None, matches)
    return around[1] or around[2]


def is_right(location, name, called):
    """Whether a location is the line, or the function that has it or was called."""
    path, line = AT[name]
    if location["line"] is None:
        return location["function"] in (function_of(path, line), called)
    return (location["file"], location["line"]) == (path, line)


@pytest.mark.parametrize("form", FORMS)
def test_no_refusal_has_the_line_of_another(deployed, form):
    around, callees = AROUND[form], {}
    locations = {}
    for case, sent in deployed.refused(form).items():
        location = locations[case.name] = deployed.explorer.transaction(sent)["error"]["location"]
        called = {"creation": "constructor"}.get(form, case.function)
        assert is_right(location, case.name, called), (case.name, location)
        frames = deployed.explorer.frames(sent)
        for name, frame in zip(around, frames, strict=False):
            assert is_right(frame["error"]["location"], name, "fallback"), case.name
        callees[f"{case.name} outer"] = called, frames[len(around) :]
    with_calls = {name: callees[name] for name in callees.keys() & AT if len(callees[name][1]) > 1}
    assert with_calls
    for name, (called, [frame, *_]) in with_calls.items():
        assert is_right(frame["error"]["location"], name, called), name
    lines = [name for name, location in locations.items() if location["line"]]
    assert len(lines) >= LINES[deployed.way][form == "creation"], lines


def test_only_checks_that_the_compiler_added_are_generated(deployed):
    """Where the line is known, beside one of another that only the function is known of."""
    said = "zero customZero asserted bareRevert passedOn child".split()
    generated = "narrow notPayable added divided element converted popped noCode decoded".split()
    errors = {
        case.name: deployed.explorer.transaction(sent)["error"]
        for case, sent in deployed.refused("called").items()
        if case.name in (*generated, *said)
    }
    known = {n: e["location"]["generated"] for n, e in errors.items() if e["location"]["line"]}
    assert known == {name: name in generated for name in known}
    assert len(known) > 7


def test_a_simulated_call_and_pages_say_the_same(deployed):
    sent = {case.name: hash_ for case, hash_ in deployed.refused("called").items()}
    for name in ("zero", "twice"):
        body = {"calls": [{"to": deployed.refusals, "data": calldata(f"{name}(uint256)", 0)}]}
        [outcome] = deployed.explorer.client.post("/api/v1/simulate", json=body).json["calls"]
        location = deployed.explorer.transaction(sent[name])["error"]["location"]
        assert outcome["error"]["location"] == location
        for tab in ("", "?tab=calls"):
            page = deployed.explorer.client.get(f"/tx/{sent[name]}{tab}").text
            is_line = location["line"] is not None
            assert (f", line {location['line']}" in page) == is_line
            assert f"{PATHS[0]}</bdi>" in page and f">{name}</code>" in page


SMALL = (FOLDER / "Small.sol").read_text()
POINTER = (FOLDER / "Pointer.sol").read_text()
ASSEMBLY = (FOLDER / "Assembly.sol").read_text()
STRIPPED = (FOLDER / "Stripped.sol").read_text()
NOWHERE = None
BY_IR = WAYS["IR optimized"]
WITHOUT_TEXTS = {**BY_IR, "debug": {"revertStrings": "strip"}}
SMALL_CALLS = [
    (SMALL, BY_IR, "f", 0, "f0"),
    (SMALL, BY_IR, "f", 1, "f1"),
    (SMALL, BY_IR, "g", 0, "g0"),
    (SMALL, BY_IR, "g", 1, "g1"),
    (POINTER, BY_IR, "f", 0, NOWHERE),
    (ASSEMBLY, BY_IR, "f", 0, NOWHERE),
    (ASSEMBLY, BY_IR, "g", 0, NOWHERE),
    (STRIPPED, WITHOUT_TEXTS, "f", 0, NOWHERE),
]


def location_of_small(explorer, source, settings, function, argument):
    standard = standard_input({"Small.sol": source}, **settings)
    address = explorer.verified(standard, "0.8.28", "Small.sol:Small")
    data = calldata(f"{function}(uint256)", argument)
    return explorer.transact(address, data, gas=200_000)["error"]["location"]


@pytest.mark.parametrize(("source", "settings", "function", "argument", "mark"), SMALL_CALLS)
def test_a_line_needs_one_statement_that_agrees(
    explorer, source, settings, function, argument, mark
):
    """Else, as where a pointer may be to any function, the function is known alone."""
    location = location_of_small(explorer, source, settings, function, argument)
    line = mark and marked_line(source, f"// {mark}")
    assert (location["line"], location["function"]) == (line, function), location


@pytest.mark.parametrize(("more", "mark"), [(0, "a7;"), (1, NOWHERE)])
def test_of_too_many_statements_that_are_alike_none_is_named(explorer, more, mark):
    """The map tells them apart: how many are looked for in it is bounded."""
    alike = range(MAX_ALIKE + more)
    checks = [f'require(n != {n}, "alike"); // a{n};' for n in alike]
    head = ("pragma solidity ^0.8.20;", "contract Small {", "uint256 kept;")
    source = "\n".join([*head, "function f(uint256 n) external {", *checks, "kept = n;", "}}"])
    location = location_of_small(explorer, source, WAYS["optimized"], "f", 7)
    line = mark and marked_line(source, f"// {mark}")
    assert (location["line"], location["function"]) == (line, "f"), location
