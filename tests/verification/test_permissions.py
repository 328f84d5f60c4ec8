"""Conditions on the caller in hostile sources and trees: everything is bounded, nothing fails."""

import random
import time
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import pytest

from scan.verification.permissions import (
    contract_permissions,
    inline_assembly,
    solidity_functions,
    syntax_tree,
)
from scan.verification.permissions.contract_permissions import (
    MAX_FUNCTIONS,
    MAX_OF_ONE,
    MAX_RECORD_BYTES,
    of_solidity,
    selection_of,
)
from scan.verification.permissions.stored_permissions import UNREADABLE
from scan.verification.permissions.syntax_tree import MAX_STEPS, MAX_TEXT, TEXT_OF_STEP, Budget
from tests.support.explorer import Explorer, compiled, standard_input
from tests.support.solidity import compile_standard

PATH = "Own.sol"
OWNER = "address owner = msg.sender; uint256 value;"


def output_of(body: str, before: str = "", compiler: str = "solc-0.8.28") -> tuple[Any, dict]:
    sources = {PATH: f"pragma solidity >=0.4.12; {before} contract Own {{ {body} }}"}
    settings = {"outputSelection": selection_of(PATH, "Own")}
    return compile_standard(sources, compiler, settings), sources


def functions_of(body: str, before: str = "", compiler: str = "solc-0.8.28") -> Mapping[str, Any]:
    output, sources = output_of(body, before, compiler)
    record = of_solidity(output, sources, PATH, "Own")
    assert record is not None
    return {function["function"]: function for function in record["functions"]}


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Budget]]:
    """The budgets of contracts, to see how much was used of them."""
    budgets: list[Budget] = []

    class Counted(Budget):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            budgets.append(self)

    monkeypatch.setattr(contract_permissions, "Budget", Counted)
    monkeypatch.setattr(solidity_functions, "Budget", Counted)
    yield budgets


@pytest.mark.parametrize("depth", [100, 200])
def test_a_condition_within_many_others_is_not_recognised(depth: int) -> None:
    nested = "(" * depth + "msg.sender == owner" + ")" * depth
    functions = functions_of(f"{OWNER} function f() public {{ require({nested}); }}")
    assert functions["f()"]["access"] == "unrecognised"
    assert functions["f()"]["complete"] is False


def test_calls_that_double_at_each_level_end(steps: list[Budget]) -> None:
    levels = "".join(
        f"function f{n}() internal {{ f{n + 1}(); f{n + 1}(); }}" for n in range(1, 14)
    )
    values = "".join(
        f"function g{n}() internal view returns (bool) {{ return g{n + 1}() || g{n + 1}(); }}"
        for n in range(1, 14)
    )
    end = "function f14() internal { value++; } "
    end += "function g14() internal view returns (bool) { return msg.sender == owner; }"
    functions = functions_of(
        f"{OWNER} {levels} {values} {end} function f() public {{ f1(); }}"
        "function g() public { require(g1()); }"
    )
    for name in ("f()", "g()"):
        assert (functions[name]["access"], functions[name]["complete"]) == ("unrecognised", False)
    assert steps[0].left < MAX_STEPS - 2 * solidity_functions.MAX_STEPS_OF_ONE + 10_000
    assert all(budget.left >= -1 for budget in steps)


def test_alternatives_that_multiply_end() -> None:
    both = "(msg.sender == owner && msg.sender == owner)"
    functions = functions_of(
        f"{OWNER} function f() public {{ require({' || '.join([both] * 20)}); }}"
    )
    assert functions["f()"]["access"] == "unrecognised"


def test_all_functions_share_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contract_permissions, "Budget", lambda: Budget(500))
    checks = "require(msg.sender == owner); value++;" * 10
    functions = functions_of(
        OWNER + "".join(f"function f{n}() public {{ {checks} }}" for n in range(20))
    )
    accesses = [function["access"] for function in functions.values()]
    assert accesses[-10:] == ["unrecognised"] * 10


@pytest.mark.parametrize("name", ["owner", "arguments"])
def test_the_name_of_a_variable_decides_nothing(name: str) -> None:
    check = f"require(msg.sender == {name} || value > 1)"
    body = f"address {name}; uint256 value; function f() public {{ {check}; value++; }}"
    assert functions_of(body)["f()"]["access"] == "unrecognised"


def test_functions_that_call_each_other() -> None:
    functions = functions_of(
        f"{OWNER} function f() public {{ g(); }} function g() public {{ f(); }}"
        "function h() public view returns (bool) { return h(); }"
        "function i() public { require(h()); }"
        "modifier m { i(); _; } function j() public m { j(); require(msg.sender == owner); }"
    )
    assert functions["f()"]["access"] == "unrestricted"
    assert functions["i()"]["access"] in ("unrestricted", "unrecognised")
    assert functions["j()"]["access"] == "unrecognised"


CHECK = "require(msg.sender == owner);"
STOP = "assembly { stop() }"
ROUNDS = """function mint() internal { value++; }
    function stopped() internal returns (uint256) { assembly { stop() } }
    function text() internal pure returns (string memory) { assembly { return(0, 0) } }
    function claim() internal returns (uint256) { owner = msg.sender; return 1; }
    function set(uint256) external { owner = msg.sender; }
    modifier only { require(msg.sender == owner); _; }
    modifier after_ { _; require(msg.sender == owner); }
    modifier with(uint256) { require(msg.sender == owner); _; }
    modifier early { if (value > 0) return; _; }
    mapping(address => bool) ins; mapping(address => bool) outs;
    function members(bool b) internal view returns (mapping(address => bool) storage) {
        if (b) return ins; return outs; }
    function sender() public pure returns (address a) { assembly { a := calldataload(4) } }
    function passed() public pure returns (address) { return abi.decode(msg.data[4:], (address)); }
    struct Held { function() internal run; }"""
# Functions that anybody can use, though they name the owner somewhere.
AROUND = (
    f"mint(); {STOP} {CHECK}",
    f"mint(); assembly {{ return(0, 0) }} {CHECK}",
    f"mint(); if (value > 1) {{ {STOP} }} {CHECK}",
    f"mint(); stopped(); {CHECK}",
    f"selfdestruct(payable(msg.sender)); {CHECK}",
    "if (msg.sender != owner) { mint(); if (value > 0) return; revert(); }",
    "if (msg.sender != owner) { { mint(); return; } revert(); }",
    f"if (msg.sender != owner) {{ mint(); {STOP} revert(); }}",
    "if (msg.sender != owner) { mint(); stopped(); revert(); }",
    "if (msg.sender != owner) { mint(); revert(text()); }",
    "if (msg.sender == owner) value = 2; else { mint(); if (value > 0) return; revert(); }",
    "do { if (msg.sender != owner) { mint(); break; revert(); } } while (false);",
    f"a.delegatecall(''); {CHECK}",
    f"assembly {{ pop(delegatecall(gas(), a, 0, 0, 0, 0)) }} {CHECK}",
    f"assembly {{ sstore /* a */ (owner.slot, caller()) }} {CHECK}",
    f"a.call(''); {CHECK}",
    f"this.set(1); {CHECK}",
    f"new Other(); {CHECK}",
    f"try this.set(1) {{}} catch {{}} {CHECK}",
    f"function() external p = Other(a).run; p(); {CHECK}",
    f"function() internal returns (uint256) p = claim; p(); {CHECK}",
    f"Held memory h; h.run(); {CHECK}",
    f"(value > 1 ? stopped : claim)(); {CHECK}",
    "Other(a).require(msg.sender == owner);",
    "if (msg.sender != owner) { Other(a).revert(); }",
    "mapping(address => bool) storage m = members(true); m[msg.sender] = true;"
    "require(ins[msg.sender]);",
    "require((owner = msg.sender) == owner);",
    "address own; require((own = msg.sender) == owner || value == 0);",
    "require(sender() == msg.sender);",
    "require(passed() == msg.sender);",
    "require(tx.origin == owner);",
    f"for (uint256 i; i < value; i++) {{ {CHECK} }}",
    f"try this.set(1) {{ {CHECK} }} catch {{}}",
    "value > 1 || check();",
    f"if (T.wrap(1) == T.wrap(2)) {{}} {CHECK}",
)
AROUND_MODIFIERS = (
    ("after_", f"mint(); {STOP}"),
    ("after_", "mint(); stopped();"),
    ("with(claim())", "mint();"),
    ("with(stopped())", "mint();"),
)
BEFORE = """
    type T is uint256; using {same as ==} for T global;
    function same(T, T) pure returns (bool) { assembly { stop() } }
    contract Other { function require(bool) external {} function revert() external {}
        function run() external {} }"""


@pytest.mark.parametrize(
    "modifier, body", [*(("", body) for body in AROUND), *AROUND_MODIFIERS], ids=str
)
def test_ways_around_a_check(modifier: str, body: str) -> None:
    check = f"function check() internal view returns (bool) {{ {CHECK} return true; }}"
    function = f"function f(address a) public payable {modifier} {{ {body} }}"
    functions = functions_of(OWNER + ROUNDS + check + function, BEFORE)
    assert functions["f(address)"]["access"] in ("unrecognised", "unrestricted")
    if "mint()" in body:
        assert "value" in [write["variable"] for write in functions["f(address)"]["writes"]]


@pytest.mark.parametrize(
    "name, declaration",
    [
        ("require", "function(bool) internal require;"),
        ("require", "struct require { bool is_; }"),
        ("revert", "function revert() internal {}"),
        ("msg", "enum msg { sender }"),
    ],
)
def test_names_that_hide_those_of_the_language(name: str, declaration: str) -> None:
    check = "if (msg.sender != owner) { revert(); }" if name == "revert" else CHECK
    body = f"address owner; uint256 value; {declaration} function f() public {{ {check} value++; }}"
    if name == "msg":
        body = body.replace("address owner", "msg owner")
    assert functions_of(body)["f()"]["access"] in ("unrecognised", "unrestricted")


@pytest.mark.parametrize(
    "body",
    [
        "if (msg.sender != owner) { value++; revert(); } value = 1;",
        "if (msg.sender != owner) { string memory t = string.concat('a', 'b'); revert(t); }",
        "uint256 x; assembly { /* stop() */ x := 1 // return\n } require(msg.sender == owner);",
        "Token(a).balance(); require(msg.sender == owner);",
        "payable(a).transfer(1); require(msg.sender == owner);",
        "require(msg.sender == owner); a.call(''); a.delegatecall(''); assembly { stop() }",
        "require(msg.sender == owner); selfdestruct(payable(a));",
    ],
)
def test_checks_that_always_run(body: str) -> None:
    before = "interface Token { function balance() external view returns (uint256); }"
    functions = functions_of(f"{OWNER} function f(address a) public {{ {body} }}", before)
    assert functions["f(address)"]["access"] == "restricted"


def test_a_large_assembly_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it runs; its text takes of the steps, so that many are not read at all."""
    read: list[int] = []
    text = inline_assembly._read
    monkeypatch.setattr(
        inline_assembly, "_read", lambda given: read.append(len(given)) or text(given)
    )
    levels = "".join(f"function h{n}() internal {{ {f'h{n - 1}();' * 10} }}" for n in range(1, 4))
    one = f"function h0() internal {{ assembly {{ /* {'a b ' * 5000} */ let y := 1 }} }}"
    functions = functions_of(f"{OWNER} {one} {levels} function f() public {{ value = 1; h3(); }}")
    assert functions["f()"]["complete"] is True and len(read) == 1 and read[0] > 20_000
    read.clear()
    monkeypatch.setattr(solidity_functions, "MAX_STEPS_OF_ONE", 2000)
    many = one.split("{", 1)[1][:-1] * 12
    functions = functions_of(f"{OWNER} function f() public {{ value = 1; {many} {CHECK} }}")
    assert functions["f()"]["complete"] is False and functions["f()"]["access"] == "unrecognised"
    assert sum(read) <= solidity_functions.MAX_STEPS_OF_ONE * TEXT_OF_STEP


def test_what_takes_too_long_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the time of the processor, whatever a step costs: of a tree, and of a function."""
    output, sources = output_of(f"{OWNER} function f() public {{ {'value++;' * 20} {CHECK} }}")
    ends = contract_permissions.Members.__init__

    def too_late(members: Any, *given: Any) -> None:
        ends(members, *given)
        monkeypatch.setattr(time, "thread_time", lambda: now + 2 * syntax_tree.MAX_SECONDS)

    now = time.thread_time()
    monkeypatch.setattr(contract_permissions.Members, "__init__", too_late)
    record = of_solidity(output, sources, PATH, "Own")
    assert record is not None
    [function] = record["functions"]
    assert (function["access"], function["complete"]) == ("unrecognised", False)
    monkeypatch.setattr(syntax_tree, "MAX_SECONDS", -1.0)
    assert of_solidity(output, sources, PATH, "Own") is None


def test_what_is_listed_is_bounded() -> None:
    many = MAX_FUNCTIONS + 5
    body = "".join(f"uint256 v{n};" for n in range(30)) + OWNER
    body += f"function f() public {{ {''.join(f'v{n} = 1;' for n in range(30))} }}"
    body += "".join(
        f"function f{n}() public {{ require(msg.sender == owner); }}" for n in range(many)
    )
    text = f"msg.sender == owner && bytes('{'x' * 3 * MAX_TEXT}').length == 1"
    lines = "\n".join([f"require({text});"] * 30)
    body += f"function a() public {{ {lines} }}"
    output, sources = output_of(body)
    record = of_solidity(output, sources, PATH, "Own")
    assert record is not None
    assert record["truncated"] is True and len(record["functions"]) == MAX_FUNCTIONS
    assert len(record["functions"][0]["writes"]) == MAX_OF_ONE
    one = functions_of(OWNER + body[body.index("function a()") :])["a()"]
    assert len(one["conditions"]) == MAX_OF_ONE
    assert max(len(condition["condition"]) for condition in one["conditions"]) == MAX_TEXT


def test_a_tree_that_refers_to_itself() -> None:
    output, sources = output_of(
        f"{OWNER} uint256 constant A = 1; function f() public {{ require(value == A); }}"
    )
    [contract] = [
        node
        for node in output["sources"][PATH]["ast"]["nodes"]
        if node["nodeType"] == "ContractDefinition"
    ]
    constant = next(node for node in contract["nodes"] if node.get("name") == "A")
    constant["value"] = {
        "nodeType": "Identifier",
        "referencedDeclaration": constant["id"],
        "src": "0:1:0",
    }
    contract["linearizedBaseContracts"] *= 3
    record = of_solidity(output, sources, PATH, "Own")
    assert record is not None
    assert [f["access"] for f in record["functions"]] == ["unrecognised"]


def test_trees_of_other_forms() -> None:
    """Parts of a tree replaced at random: a record, or one of the errors that are expected."""
    output, sources = output_of(
        f"""{OWNER} mapping(address => bool) members; enum Kind {{ A, B }}
        modifier only {{ require(msg.sender == owner); _; }}
        function f(address to) public only returns (uint256 x) {{ x = value; members[to] = true; }}
        function g() public {{ for (uint256 i; i < 2; i++) {{ if (members[msg.sender]) return; }} }}
        function h() public {{ if (!members[msg.sender]) revert(); delete value; }}"""
    )
    choices = random.Random(1)
    junk = [None, 0, -1, "x", [], {}, [[]], {"nodeType": "Identifier"}, True, 2**70]
    outcomes = set()
    for _ in range(300):
        changed = deepcopy(output)
        for _ in range(choices.randint(1, 3)):
            _replace_one(changed["sources"], choices, junk)
        try:
            outcomes.add(of_solidity(changed, sources, PATH, "Own") is None)
        except UNREADABLE:
            outcomes.add("unreadable")
    assert {False, "unreadable"} <= outcomes


def _replace_one(tree: Any, choices: random.Random, junk: list[Any]) -> None:
    node = tree
    while True:
        keys = [*node] if isinstance(node, dict) else [*range(len(node))]
        key = choices.choice(keys)
        below = node[key]
        if not isinstance(below, dict | list) or not below or choices.random() < 0.08:
            node[key] = deepcopy(choices.choice(junk))
            return
        node = below


@pytest.mark.parametrize("version", ["0.4.13", "0.4.26", "0.5.16", "0.6.12", "0.7.6", "0.8.4"])
def test_compilers_of_all_ages(version: str) -> None:
    functions = functions_of(
        """address public owner; uint256 value; mapping(address => bool) members;
        modifier only { require(msg.sender == owner); _; }
        modifier member { if (!members[msg.sender]) revert(); _; }
        modifier silent { if (msg.sender == owner) { _; } }
        function isOwner() internal view returns (bool) { return msg.sender == owner; }
        function restricted(address to, uint256[2] memory) public only { members[to] = true; }
        function inside() public { require(isOwner()); value += 1; }
        function members_() public member { value = 1; }
        function unknown() public silent { value = 1; }
        function open() public { value = 1; }""".replace(
            "view", "constant" if version == "0.4.13" else "view"
        ).replace("uint256[2] memory", "uint256[2]" if version < "0.5" else "uint256[2] memory"),
        compiler=f"solc-{version}",
    )
    assert {name: function["access"] for name, function in functions.items()} == {
        "restricted(address,uint256[2])": "restricted",
        "inside()": "restricted",
        "members_()": "restricted",
        "unknown()": "unrecognised",
        "open()": "unrestricted",
    }
    [condition] = functions["inside()"]["conditions"]
    assert condition["callers"][0]["reads"] == [{"call": "owner()"}]


def test_a_record_that_is_too_large_is_not_kept(explorer: Explorer) -> None:
    names = [f"{'x' * 100}{n}" for n in range(MAX_OF_ONE)]
    body = "".join(f"uint8 {name};" for name in names)
    body += f"function write() internal {{ {''.join(f'{name} = 1;' for name in names)} }}"
    body += "".join(f"function f{n}() external {{ write(); }}" for n in range(MAX_FUNCTIONS))
    source = f"pragma solidity ^0.8.0; contract Own {{ {body} }}"
    assert len(str([*functions_of(body).values()])) > MAX_RECORD_BYTES
    given = standard_input({PATH: source}, optimizer={"enabled": True, "runs": 1})
    address = explorer.deploy(compiled("0.8.28", given, PATH, "Own").creation)
    assert explorer.verify(address, given, "0.8.28").status_code == 200
    of_address = {"addresses": [bytes.fromhex(address[2:])]}
    stored = explorer.database.row("queries/contract_permissions_list", **of_address)
    assert stored is not None and '"permissions" : null' in stored[1]
