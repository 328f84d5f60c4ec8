"""Syntax trees that are no compiler's: what is read of them is read, or left out, without a fault
of our own."""

import copy
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

from scan.extensions.compiled_sources import compiler_layouts
from scan.extensions.compiled_sources.source_maps import SourceText, spans_at
from scan.verification import contract_interface
from scan.verification.languages.solidity import SOLIDITY
from tests.support.explorer import compilation, standard_input

pytestmark = pytest.mark.thorough

PATH = "Mutated.sol"
SOURCE = Path(__file__).with_name(PATH).read_text()
VALUES = (
    *(None, True, -1, 0, 2**70, 10**30, 1.5, "", "x", "1:2", "9:99999999999999:0", "-1:-1:-1"),
    *([], [None], [[]], ["x"], [1], {}, {"nodeType": 3}, {"id": []}, {"src": "a:b:c"}),
)


def positions(tree):
    """All places of a tree: the object or list, and the key or index."""
    waiting, pairs = [tree], []
    while waiting:
        node = waiting.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            pairs.append((node, key))
            if isinstance(value, dict | list):
                waiting.append(value)
    return pairs


def nested(depth):
    """A tree of one node within another."""
    node = {"nodeType": "Literal"}
    for _ in range(depth):
        node = {"nodeType": "ArrayTypeName", "baseType": node}
    return node


class Compilations:
    """What gives this output of a compiler."""

    def __init__(self, output):
        self.submission = SimpleNamespace(
            sources={PATH: SOURCE}, language=SOLIDITY, version=(0, 8, 28)
        )
        self._output = output

    def trees(self, _settings):
        return self._output

    def run(self, *_, **__):
        return {"errors": [{"severity": "error", "type": "ParserError", "message": ""}]}


@pytest.fixture(scope="module", params=["0.8.28", "0.8.4"])
def output(request):
    given = standard_input({PATH: SOURCE})
    return compilation(request.param, given, {"*": {"*": ["abi"], "": ["ast"]}})


MATCH = SimpleNamespace(settings={}, contract=SimpleNamespace(path=PATH, name="Mutated"))


def names(output):
    _, functions = compiler_layouts.add_names({"storage": []}, Compilations(output), MATCH)
    return functions


def remove(_lot, _output, node, key):
    node.pop(key)


def put_another_node(lot, output, node, key):
    node[key] = copy.deepcopy(lot.choice(positions(output))[0])


def put_a_value(lot, _output, node, key):
    node[key] = lot.choice(VALUES)


def put_a_deep_tree(_lot, _output, node, key):
    node[key] = nested(3_000)


def has_readable_libraries(output):
    """Whether libraries can be read; else there is an error that says so, and never another."""
    try:
        declared = [*contract_interface.declared_in(output)]
        contract_interface.library_entries(output, declared, PATH, "Mutated")
        contract_interface.library_functions(declared, PATH, "Lib")
    except contract_interface.UNREADABLE:
        return False
    return True


@pytest.mark.parametrize(
    "seed", [1, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 9))]
)
def test_mutated_trees_are_read_or_left_out(output, seed):
    mutations = {remove: 30, put_another_node: 20, put_a_value: 49, put_a_deep_tree: 1}  # weights
    assert names(output)["called"]
    assert has_readable_libraries(output)
    lot, read, readable = random.Random(seed), [], []
    for _ in range(100):
        mutated = copy.deepcopy(output)
        for _ in range(lot.choice((1, 1, 2, 10))):
            [mutate] = lot.choices(tuple(mutations), mutations.values())
            mutate(lot, output, *lot.choice(positions(mutated)))
        read.append("modifiers" in names(mutated))
        readable.append(has_readable_libraries(mutated))
    assert any(read) and any(readable)


def test_mutated_maps_have_places_or_none():
    lot, text = random.Random(3), SourceText(SOURCE, is_vyper=False)
    entries = "1:2:0:-;;:5;-1:-1:-1:i;9999999999999:1:0;x:1:2;::1;2:::o".split(";")
    code = bytes(lot.randrange(256) for _ in range(300))
    maps = [";".join(lot.choice(entries) for _ in range(lot.randrange(80))) for _ in range(1_000)]
    spans = [span for map_ in maps for span in spans_at(code, map_).values()]
    assert spans
    for span in spans:
        assert (text.line_at(span) is None) == (text.line_number(span) is None)
        text.function_at(span)
