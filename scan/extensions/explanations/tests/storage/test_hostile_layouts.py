"""Layouts of strangers' contracts: every walk and every size is bounded."""

import json
from functools import partial

import pytest

from scan.extensions.compiled_sources.compiler_layouts import MAX_LAYOUT_BYTES, packed, unpacked
from scan.extensions.explanations.storage import mapping_keys, slot_names, slots, variable_values
from scan.extensions.explanations.storage.layout import (
    MALFORMED_LAYOUT,
    MAX_MEMBERS,
    MAX_VARIABLES,
    read_solidity,
    read_vyper,
)
from scan.extensions.explanations.storage.variable_values import entries_of, place_at

pytestmark = pytest.mark.check

UINT = {"encoding": "inplace", "label": "uint256", "numberOfBytes": "32"}
STRING = {"encoding": "bytes", "label": "string", "numberOfBytes": "32"}


def variable(label, type_, slot=0):
    return {"label": label, "type": type_, "slot": str(slot), "offset": 0}


def struct(*members, size=32):
    fields = {"encoding": "inplace", "label": "struct S", "numberOfBytes": str(size)}
    return {**fields, "members": [*members]}


def mapping(key, value):
    fields = {"encoding": "mapping", "label": "mapping", "numberOfBytes": "32"}
    return {**fields, "key": key, "value": value}


def array(base, label="S[]", size=32, encoding="dynamic_array"):
    return {"encoding": encoding, "label": label, "numberOfBytes": str(size), "base": base}


def layout(storage, **types):
    return read_solidity(json.dumps({"storage": storage, "types": types}))


def named(own, slots_, words=()):
    """The parts in slots that have a name, and what is left of the budget."""
    candidates, budget = mapping_keys.Candidates(words), slot_names.Budget()
    return slot_names.names_of_slots(own, slots_, candidates, budget), budget


def parts(own, slot):
    return [
        part.name for part in slots.Regions(own, slots.roots_of(own), slots.Steps()).parts_at(slot)
    ]


@pytest.mark.parametrize(
    "text",
    (
        "",
        "[]",
        "{}",
        '{"storage": [1]}',
        '{"storage": [{"label": "a", "type": "t", "slot": "x", "offset": 0}]}',
        '{"storage": [{"label": "a", "type": "t", "slot": "-1", "offset": 0}]}',
        '{"storage": [{"label": "a", "type": "t", "slot": "0", "offset": 32}]}',
        '{"storage": [{"label": "a", "type": "t", "slot": "%s", "offset": 0}]}' % ("9" * 79),
        '{"storage": [], "types": {"t": {}}}',
        '{"storage": [], "types": {"t": {"encoding": "no", "label": "", "numberOfBytes": "1"}}}',
        '{"storage": [], "types": {"t": {"encoding": "bytes", "label": "", "numberOfBytes": "0"}}}',
    ),
)
def test_malformed_layouts_are_refused(text):
    with pytest.raises(MALFORMED_LAYOUT):
        read_solidity(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"a": {"slot": -1, "type": "uint256"}}',
        '{"a": {"slot": 0, "n_slots": 0, "type": "uint256"}}',
        json.dumps({"a": {"slot": 0, "type": "DynArray[" * 20 + "uint256" + ", 2]" * 20}}),
        json.dumps({"a": {"slot": 0, "type": "x" * 2_000}}),
    ],
)
def test_malformed_layouts_of_vyper_are_refused(text):
    with pytest.raises(MALFORMED_LAYOUT):
        read_vyper(text)


def test_modules_in_modules_are_followed_to_a_bound():
    nested = {"deep": {"slot": 1, "type": "uint256"}}
    for _ in range(100):
        nested = {"m": nested}
    own = read_vyper(json.dumps({"near": {"a": {"slot": 0, "type": "bool"}}, **nested}))
    assert [v.name for v in own.variables] == ["near.a"]


def test_many_variables_and_members_are_cut():
    own = layout([variable(f"v{n}", "t", n) for n in range(MAX_VARIABLES + 10)], t=UINT)
    assert (len(own.variables), own.is_truncated) == (MAX_VARIABLES, True)
    members = [variable(f"m{n}", "t", n) for n in range(MAX_MEMBERS)]
    own = layout([], t=UINT, a=struct(*members[:10]), b=struct(*members))
    assert sum(len(type_.members) for type_ in own.types.values()) == MAX_MEMBERS
    many = {f"v{n}": {"slot": n, "type": "uint256"} for n in range(MAX_VARIABLES + 10)}
    vyper = read_vyper(json.dumps(many))
    assert (len(vyper.variables), vyper.is_truncated) == (MAX_VARIABLES, True)


def test_a_struct_that_has_itself_is_walked_to_a_bound():
    """No compiler allows it in place; each level has a hundred of the next."""

    class Walked(list):
        """A list that counts the items that were taken from it."""

        count = 0

        def __iter__(self):
            for item in super().__iter__():
                self.count += 1
                yield item

    members = [variable(f"m{n}", "s") for n in range(100)]
    own = layout([variable("v", "s")], s=struct(*members))
    assert parts(own, 0) == []
    for type_ in ("s", "none"):  # each member is a step, also one too deep or of no type
        own = layout([variable("v", "s")], s=struct(variable("m", "s"), variable("m", type_)))
        members = Walked(99 * own.types["s"].members)
        own.types["s"] = own.types["s"]._replace(members=members)
        [root] = slots.roots_of(own)
        for walk, start in (
            (entries_of, root.place),
            (partial(slots.hashed_places, indices=()), root),
        ):
            members.count, steps = 0, slots.Steps(5_000)
            assert len([*walk(own, start, steps=steps)]) <= 5_000
            assert steps.left <= 0
            assert members.count < 5_000 + slots.MAX_DEPTH * len(members)
    assert named(own, {1, 2, 3}, [bytes(32)])[0] == {}


def test_walks_of_many_slots_are_bounded_together():
    members = [variable(f"m{n}", "t", n) for n in range(1_000)]
    own = layout([variable("v", "s")], t=UINT, s=struct(*members, size=32_000))
    names, budget = named(own, range(1_000))
    assert len(names) == 50  # of 50,000 steps, a thousand for each
    assert budget.steps.left < 0
    own = layout([variable(f"v{n}", "t") for n in range(MAX_VARIABLES)], t=UINT)
    steps = slots.Steps()
    regions = slots.Regions(own, slots.roots_of(own), steps)
    assert sum(len(regions.parts_at(0)) for _ in range(1_000)) <= slots.MAX_STEPS


def test_arrays_of_any_length_are_looked_up_by_arithmetic():
    length = 2**200
    small = {"encoding": "inplace", "label": "uint8", "numberOfBytes": "1"}
    many, name = array("small", "uint8[]", length, "inplace"), f"t(x){length}_storage"
    own = layout([variable("a", name)], **{name: many}, small=small)
    at = (length - 32) // 32
    assert parts(own, at) == [f"a[{length - 32 + n}]" for n in range(32)]
    assert parts(own, at + 1) == []
    assert place_at(own, f"a[{length - 1}]").slot == at
    assert len([*entries_of(own, slots.Place("a", name, 0), slots.Steps())]) == 11


def test_hashes_are_bounded():
    words = [n.to_bytes(32) for n in range(2**20, 2**20 + 3_000)]
    three = {"m3": mapping("t", "t"), "m2": mapping("t", "m3"), "m1": mapping("t", "m2")}
    own = layout([variable(f"v{n}", "m1", n) for n in range(100)], t=UINT, **three)
    names, budget = named(own, {2**255 + 1}, words)
    assert names == {}
    assert budget.hashes in (0, -1)  # it was used up, and no more than it
    assert slot_names.MAX_HASHES == 10_000


def test_candidates_are_bounded():
    words = (n.to_bytes(32) for n in range(10_000))
    candidates = mapping_keys.Candidates(words, (n.to_bytes(2) for n in range(1_000)))
    own = layout([], t=UINT, s=STRING)
    assert len(candidates.of(own.types["t"], is_vyper=False)) == mapping_keys.MAX_WORDS
    assert len(candidates.of(own.types["s"], is_vyper=False)) == mapping_keys.MAX_TEXTS
    assert len(candidates.indices) == mapping_keys.MAX_INDICES


def test_a_long_string_is_not_put_together():
    word = (2 * 2**200 + 1).to_bytes(32)
    assert slot_names.content_of(0, word, {}) is None
    own = layout([variable("s", "s")], s=STRING)
    [*changes] = slot_names.changed_variables(
        [own], {0: (bytes(32), word)}, mapping_keys.Candidates(()), slot_names.Budget()
    )[0]
    expected = [("s", "", None), ("s.length", "0", str(2**200))]
    assert [(c.name, c.before, c.after) for c in changes] == expected
    # The length of a short one is not more than its slot has room for.
    assert slot_names.content_of(0, bytes(31) + b"\xfe", {}) == bytes(31)


class Storage:
    """A storage in which every slot has one word."""

    def __init__(self, word):
        self.word = word.to_bytes(32)
        self.rounds = self.slots = 0

    def read(self, slots):
        self.rounds += 1
        self.slots += len(slots)
        return dict.fromkeys(slots, self.word)


@pytest.mark.parametrize("word", [0, 1, 10, 2**64, 2**256 - 1])
def test_reading_is_bounded(word):
    """Whatever the lengths of arrays and strings are said to be."""
    node = struct(variable("a", "list"), variable("b", "s", 1), variable("c", "t", 2), size=96)
    nodes = [variable(f"v{n}", "node", 3 * n) for n in range(50)]
    own = layout(nodes, node=node, list=array("node"), s=STRING, t=UINT)
    steps = slots.Steps()
    entries = [
        (own, entry)
        for v in own.variables
        for entry in entries_of(own, slots.Place(v.name, v.type, v.slot), steps)
    ]
    storage = Storage(word)
    values = variable_values._Values(storage.read, entries, steps)
    assert len(values.read()) <= variable_values.MAX_ENTRIES
    assert storage.rounds <= variable_values.MAX_ROUNDS
    assert storage.slots <= variable_values.MAX_SLOTS
    assert values.is_truncated == (word not in (0,))


def test_variables_at_the_end_of_the_storage():
    last = 2**256 - 1
    nine = array("m", "m[9]", 288, "inplace")
    own = layout(
        [variable("a", "t(m)9_storage", last), variable("s", "s", last), variable("n", "n", last)],
        **{"t(m)9_storage": nine},
        m=mapping("t", "s"),
        n=struct(variable("deep", "t(m)9_storage", last), size=2**255),
        s=STRING,
        t=UINT,
    )
    assert place_at(own, "a[8][1]").slot < 2**256
    assert place_at(own, "n.deep[8][1]").slot < 2**256
    storage = Storage(2**256 - 1)
    entries = [(own, e) for n in "asn" for e in entries_of(own, place_at(own, n), slots.Steps())]
    values = variable_values._Values(storage.read, entries, slots.Steps()).read()
    assert all(value.slot <= last for value in values)
    candidates = mapping_keys.Candidates([bytes(32)])
    words = {last: (bytes(32), b"\xff" * 32), 0: (bytes(32), b"\xff" * 32)}
    assert slot_names.changed_variables([own], words, candidates, slot_names.Budget())[last]


def test_a_stored_layout_is_bounded():
    given = {"storage": [], "types": None}
    assert json.loads(unpacked(packed(given) or b"")) == given
    assert packed(None) is None
    assert packed([]) is None
    assert packed({"a": "x" * MAX_LAYOUT_BYTES}) is None
    nested = {}
    for _ in range(1_000):
        nested = {"a": nested}
    assert packed(nested) is None
