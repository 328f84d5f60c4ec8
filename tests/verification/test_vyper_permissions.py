"""Conditions on the caller in hostile sources and trees of Vyper: ways around a check, bounds."""

import random
import time
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import pytest

from scan.verification.compiler_run import compile_source
from scan.verification.languages.vyper import VYPER
from scan.verification.permissions import syntax_tree, vyper_tree
from scan.verification.permissions.contract_permissions import of_vyper, selection_of
from scan.verification.permissions.stored_permissions import UNREADABLE
from tests.support.vyper import NEWEST, Vyper, source_of
from tests.verification.test_permissions import _replace_one

PATH = "own.vy"
DECLARED = """
interface Own:
    def owner() -> address: view
    def claim(): nonpayable

struct Pair:
    admin: address
    since: uint256

flag Role:
    KEEPER
    MINTER

DELEGATES: constant(bool) = True
READS: constant(bool) = False
owner: public(address)
total: uint256
minters: HashMap[address, bool]
roles: HashMap[address, Role]
masks: HashMap[address, Role]
levels: HashMap[address, uint256]
allowed: uint256[2]
ALLOWED: constant(uint256[2]) = [0, 1]
members: DynArray[address, 5]
pair: Pair

@internal
def _check() -> bool:
    assert msg.sender == self.owner
    return True

@internal
def _claim() -> uint256:
    self.owner = msg.sender
    return 1

@internal
def _check_after(amount: uint256):
    assert msg.sender == self.owner

@internal
def _two() -> (address, address):
    return (self.owner, msg.sender)
"""
CHECK = "assert msg.sender == self.owner"
# Functions that others than the owner can use, though they name the owner somewhere.
AROUND = f"""
self.owner = msg.sender; {CHECK}
self._claim(); {CHECK}
self._check_after(self._claim())
x: bool = self.total > 0 or self._check()
x: bool = self._check() if self.total > 0 else True
if msg.sender != self.owner: return
if self.total > 0: assert msg.sender == self.owner
if self.total > 0: return; {CHECK}
for i: uint256 in range(self.total, bound=3): assert msg.sender == self.owner
for who: address in self.members: assert msg.sender == who
for who: address in self.members: break; self.total = 3
extcall Own(self).claim(); {CHECK}
extcall Own(to).claim(); {CHECK}
self.owner = msg.sender; assert msg.sender == staticcall Own(self).owner()
raw_call(to, b""); {CHECK}
raw_call(to, b"", is_delegate_call=DELEGATES); {CHECK}
raw_call(to, b"", is_static_call=READS); {CHECK}
send(to, 0, gas=msg.gas); {CHECK}
if self.total > 0: selfdestruct(to); {CHECK}
made: address = create_minimal_proxy_to(to); {CHECK}
a: address = self; b: address = self; a, b = self._two(); assert b == msg.sender
self.minters[msg.sender] = True; assert self.minters[msg.sender]
self.members.append(msg.sender); assert msg.sender in self.members
assert msg.sender in [self.owner, msg.sender]
assert msg.sender in [self.owner, to]
held: address[2] = [self.owner, msg.sender]; assert msg.sender in held
pair: Pair = self.pair; pair.admin = msg.sender; assert pair.admin == msg.sender
self.pair.admin = msg.sender; assert self.pair.admin == msg.sender
self.pair = Pair(admin=msg.sender, since=0); assert self.pair.admin == msg.sender
assert self.roles[msg.sender] in self.masks[msg.sender]
assert self.roles[to] in Role.MINTER
assert self.levels[msg.sender] in self.allowed
assert self.levels[msg.sender] in ALLOWED
assert convert(msg.sender, uint160) % 2 == convert(self.owner, uint160) % 2
assert tx.origin == self.owner
assert msg.sender == self.owner or msg.sender != self.owner
assert not (msg.sender == self.owner and self.total > 0)
who: address = self.owner; who = to; assert msg.sender == who
raw_call(to, abi_encode(msg.sender))
self.total += 1 if msg.sender == self.owner else 2
""".strip().split("\n")
ALWAYS = f"""
{CHECK}
self.total = 1; {CHECK}
send(to, 0); {CHECK}
raw_call(to, b"", is_static_call=True); {CHECK}
self._check_after(1)
x: bool = self._check()
assert self._check() and self.total < 5
x: address = staticcall Own(to).owner(); {CHECK}
pair: Pair = self.pair; assert pair.admin == msg.sender
assert msg.sender in self.members and self.total == 0
assert not (msg.sender != self.owner or self.total > 0)
if not (msg.sender == self.owner): raw_revert(b"")
assert convert(msg.sender, uint256) == convert(self.owner, uint256)
assert (Role.MINTER | Role.KEEPER) in self.roles[msg.sender]
assert self.roles[msg.sender] in ~Role.MINTER
assert self.roles[msg.sender] in self.masks[self]
""".strip().split("\n")


def source_with(bodies: list[str]) -> str:
    functions = []
    for number, body in enumerate(bodies):
        lines = [part.strip() for part in body.replace("; ", "\n").split("\n")]
        text = "".join(f"    {line}\n" for line in [*lines, "self.total = 2"])
        functions.append(f"@external\ndef f{number}(to: address):\n{text}")
    return DECLARED + "\n" + "\n".join(functions)


def output_of(
    vyper: Vyper, source: str, version: str = NEWEST, more: Mapping[str, str] | None = None
) -> dict[str, Any]:
    vyper.install(version)
    release = VYPER.kind.parse_version(version)
    given = VYPER.take({PATH: source, **(more or {})}, {}, selection_of(PATH, "own"), release)
    program = vyper.store.find(release)
    assert program is not None
    output = compile_source(program, given.standard, 40.0, options=given.options)
    assert "contracts" in output, output
    return VYPER.give(output, release)


def functions_of(
    vyper: Vyper, source: str, more: Mapping[str, str] | None = None
) -> Mapping[str, Any]:
    output = output_of(vyper, source, more=more)
    record = of_vyper(output, {PATH: source, **(more or {})}, PATH, "own")
    assert record is not None
    return {function["function"].partition("(")[0]: function for function in record["functions"]}


@pytest.fixture(scope="module")
def accesses(vyper: Vyper) -> Mapping[str, str]:
    bodies = [*AROUND, *ALWAYS]
    functions = functions_of(vyper, source_with(bodies))
    return {body: functions[f"f{n}"]["access"] for n, body in enumerate(bodies)}


def test_what_a_raw_call_passes_may_be_checked(accesses: Mapping[str, str]) -> None:
    assert accesses["raw_call(to, abi_encode(msg.sender))"] == "unrecognised"


@pytest.mark.parametrize("body", AROUND)
def test_ways_around_a_check(accesses: Mapping[str, str], body: str) -> None:
    assert accesses[body] in ("unrecognised", "unrestricted", "arguments")


@pytest.mark.parametrize("body", ALWAYS)
def test_checks_that_always_run(accesses: Mapping[str, str], body: str) -> None:
    assert accesses[body] == "restricted"


def test_an_argument_whose_default_is_the_caller(vyper: Vyper) -> None:
    source = (
        DECLARED + "\n@external\ndef f(who: address = msg.sender):\n    assert who == self.owner\n"
    )
    assert functions_of(vyper, source)["f"]["access"] == "unrestricted"


KEPT = """
flag Role:
    KEEPER

struct Pair:
    members: DynArray[address, 5]

pair: Pair
roles: HashMap[address, Role]
"""
OWN = """
import kept
initializes: kept

interface Members:
    def append(who: address): view

struct Pair:
    members: Members

pair: Pair

@external
def join(who: address):
    kept.pair.members.append(who)
    assert msg.sender in kept.pair.members

@external
def keep():
    assert msg.sender in kept.pair.members and kept.roles[msg.sender] in kept.Role.KEEPER
"""


def test_types_are_of_the_module_that_names_them(vyper: Vyper) -> None:
    """The structure of a module is another one than that of its name here."""
    functions = functions_of(vyper, OWN, {"kept.vy": KEPT})
    assert functions["join"]["access"] == "unrecognised"
    assert functions["keep"]["access"] == "restricted"
    kinds = [condition["kind"] for condition in functions["keep"]["conditions"]]
    assert kinds == ["restriction", "restriction"]


def test_places_after_characters_of_several_bytes(vyper: Vyper) -> None:
    source = f"# Größe 大きさ\n{DECLARED}\n@external\ndef f():\n    # ä\n    {CHECK}  # ö\n"
    [condition] = functions_of(vyper, source)["f"]["conditions"]
    assert condition["condition"] == "msg.sender == self.owner"
    assert source.split("\n")[condition["line"] - 1].strip().startswith(CHECK)


def test_calls_that_double_at_each_level_end(vyper: Vyper) -> None:
    levels = "".join(
        f"@internal\ndef g{n}():\n    self.g{n + 1}()\n    self.g{n + 1}()\n" for n in range(15)
    )
    source = f"{DECLARED}\n{levels}@internal\ndef g15():\n    self.total += 1\n"
    source += f"@external\ndef f():\n    self.g0()\n    {CHECK}\n"
    function = functions_of(vyper, source)["f"]
    assert (function["access"], function["complete"]) == ("unrecognised", False)


def test_tests_of_lists_within_each_other_end(vyper: Vyper) -> None:
    """Each names what it tests twice, so that trees double at each level."""
    nested = f"({CHECK[7:]})"
    for _ in range(40):
        nested = f"({nested} in [True, self.total == 1])"
    source = f"{DECLARED}\n@external\ndef f():\n    assert {nested}\n"
    output = output_of(vyper, source)
    record = of_vyper(output, {PATH: source}, PATH, "own")
    assert record is None or record["functions"][0]["access"] == "unrecognised"


def test_what_takes_too_long_is_not_known(vyper: Vyper, monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_with(ALWAYS[:1])
    output = output_of(vyper, source)
    monkeypatch.setattr(syntax_tree, "MAX_SECONDS", -1.0)
    assert of_vyper(output, {PATH: source}, PATH, "own") is None
    monkeypatch.undo()
    now = time.thread_time()
    made = vyper_tree.in_form_of_solc(output, PATH, "own", syntax_tree.Budget(end=now + 60))
    assert made is not None
    assert (
        vyper_tree.in_form_of_solc({**output, "sources": {}}, PATH, "own", syntax_tree.Budget())
        is None
    )


def test_trees_of_other_forms(vyper: Vyper) -> None:
    """Parts of a tree replaced at random: a record, or one of the errors that are expected."""
    source = source_of("permissions.vy", NEWEST)
    output = output_of(vyper, source)
    choices = random.Random(1)
    junk = [None, 0, -1, "x", [], {}, [[]], {"ast_type": "Name", "id": "self"}, True, 2**70]
    outcomes = set()
    for _ in range(150):
        changed = deepcopy(output)
        for _ in range(choices.randint(1, 3)):
            _replace_one(changed["sources"], choices, junk)
        try:
            outcomes.add(of_vyper(changed, {PATH: source}, PATH, "own") is None)
        except UNREADABLE:
            outcomes.add("unreadable")
    assert {False, "unreadable"} <= outcomes
