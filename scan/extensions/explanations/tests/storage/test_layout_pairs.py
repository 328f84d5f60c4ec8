"""Layouts of a contract and of its next version: what is told of them, beside what OpenZeppelin's
upgrades-core accepts of the same pair."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from scan.extensions.explanations.storage.compiler_layouts import add_names
from scan.extensions.explanations.storage.layout import read_solidity, read_vyper
from scan.extensions.explanations.storage.layout_comparison import Comparisons
from scan.verification.languages.solidity import SOLIDITY
from tests.support.explorer import compilation, standard_input

FOLDER = Path(__file__).parent
PAIRS = {pair["name"]: pair for pair in json.loads((FOLDER / "layout_pairs.json").read_text())}
# Made by openzeppelin_answers.mjs; null where it compares nothing.
ACCEPTS = json.loads((FOLDER / "openzeppelin_answers.json").read_text())["accepts"]
# What it accepts or refuses otherwise, and why.
OTHERWISE = {
    "it refuses names": {
        "a field of a namespace renamed",
        "a field of a mapping's struct renamed",
        "a field renamed in a comment",
        "a value wrapped in a struct",
        "a variable renamed",
        "a variable renamed from another than its source says",
    },
    "it refuses other types of one encoding, and accepts any of one size that a source declares": {
        "an enum to uint8",
        "an address to a payable one",
        "an elementary type to one of its own",
        "an own type as key of another size",
        "an own type as key of another type",
        "an own type over another",
        "an enum as key to uint8",
        "bool to an enum of two",
        "bytes to a string",
    },
    "it refuses to grow what nothing follows": {
        "the last array grown",
        "a field in the room of an array's struct",
        "a member in the room of a packed struct",
        "a field appended to the last struct",
    },
    "it refuses to leave a variable out, whose bytes no other has": {
        "a variable replaced by a gap",
        "a namespace renamed",
        "a variable moved to a namespace",
        "the last variable removed",
    },
    "it believes what the source says of types, and of names that are swapped": {
        "a variable of another type as its source says",
        "variables swapped and renamed as the source says",
    },
}


def source(text):
    contract = text if "contract C" in text else f"contract C {{ {text} }}"
    return f"pragma solidity 0.8.28; interface IT {{}} interface IU {{}} {contract}"


FILES = {
    f"{name}/{side}.sol": source(pair[side])
    for name, pair in PAIRS.items()
    for side in ("before", "after")
}


def compile_files(sources, outputs=("storageLayout",)):
    return compilation("0.8.28", standard_input(sources), {"*": {"*": [*outputs], "": ["ast"]}})


class Compilations:
    """One file's part of a compilation of all, and compilations with more files."""

    def __init__(self, output, path):
        self.submission = SimpleNamespace(
            sources={path: FILES[path]}, language=SOLIDITY, version=(0, 8, 28)
        )
        self._trees = {"sources": {path: output["sources"][path]}}

    def trees(self, _settings):
        return self._trees

    def run(self, _settings, _selection, more):
        return compile_files({**self.submission.sources, **more})


@pytest.fixture(scope="module")
def compiled():
    return compile_files(FILES)


def layout_of(compiled, path):
    contract = SimpleNamespace(path=path, name="C")
    match = SimpleNamespace(contract=contract, settings={})
    raw = compiled["contracts"][path]["C"]["storageLayout"]
    named = add_names(raw, Compilations(compiled, path), match)
    assert "declared" in named
    return read_solidity(json.dumps(named))


@pytest.mark.parametrize("name", PAIRS)
def test_what_is_told_of_a_pair(compiled, name):
    layouts = [layout_of(compiled, f"{name}/{side}.sol") for side in ("before", "after")]
    collisions = Comparisons().collisions_of(*layouts)
    assert " ".join(collision.kind for collision in collisions) == PAIRS[name]["kinds"], collisions


def test_openzeppelin_says_the_same_where_it_decides():
    different = {name for names in OTHERWISE.values() for name in names}
    decided = {name: accepts for name, accepts in ACCEPTS.items() if accepts is not None}
    accepted = {name: not {*PAIRS[name]["kinds"].split()} - {"name"} for name in decided}
    assert {name for name, accepts in decided.items() if accepts != accepted[name]} == different
    assert ACCEPTS.keys() == PAIRS.keys()


def vyper(structs=None, **variables):
    entries = {
        name: {"type": type_, "slot": slot, "n_slots": slots}
        for name, (type_, slot, slots) in variables.items()
    }
    return read_vyper(json.dumps(entries if structs is None else {**entries, "$structs": structs}))


POINT = [["x", "uint256"], ["y", "int128"]]
LARGER = [*POINT, ["z", "bool"]]
OF_VYPER = {
    "an interface to an address": (
        vyper(a=("contract IFeed", 0, 1)), vyper(a=("address", 0, 1)), ""),
    "a variable inserted": (
        vyper(a=("uint256", 0, 1)), vyper(b=("uint256", 0, 1), a=("uint256", 1, 1)), "place"),
    "a field appended to the last struct": (
        vyper({"P": POINT}, p=("P", 0, 2)), vyper({"P": LARGER}, p=("P", 0, 3)), ""),
    "a field appended to a mapping's struct": (
        vyper({"P": POINT}, p=("HashMap[address, P]", 0, 1)),
        vyper({"P": LARGER}, p=("HashMap[address, P]", 0, 1)), ""),
    "a field appended to a list's struct": (
        vyper({"P": POINT}, p=("DynArray[P, 2]", 0, 5)),
        vyper({"P": LARGER}, p=("DynArray[P, 2]", 0, 7)), "type"),
    "a list grown before others": (
        vyper(p=("DynArray[bool, 2]", 0, 3), z=("bool", 3, 1)),
        vyper(p=("DynArray[bool, 3]", 0, 4), z=("bool", 4, 1)), "type"),
    "a text grown at the end": (
        vyper(p=("String[5]", 0, 2)), vyper(p=("String[40]", 0, 3)), ""),
    "a struct whose members one layout does not have": (
        vyper(p=("P", 0, 2)), vyper({"P": POINT}, p=("P", 0, 2)), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_VYPER)
def test_what_is_told_of_a_pair_of_vyper(name):
    before, after, kinds = OF_VYPER[name]
    collisions = Comparisons().collisions_of(before, after)
    assert " ".join(collision.kind for collision in collisions) == kinds, collisions
