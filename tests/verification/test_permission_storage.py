"""Conditions on the caller after writes of storage at slots that the source names, and of the
transaction's own: these change no other variable, and nothing else is taken for one of these."""

import pytest

from scan.verification.permissions.inline_assembly import _read
from tests.verification.test_permissions import functions_of

SLOT = 0x9016D09D72D40FDAE2FD8CEAC6B6234C7706214FD39C1CD1E609A0528C199300
AUTHORITY = (
    "address owner = msg.sender; address transient holder; mapping(uint256 => address) ofId;"
)
STORAGE = f"""{AUTHORITY} uint256 value; uint256 constant FIXED = 2;
    struct Guard {{ uint256 status; address who; }} struct Ownable {{ address who; }}
    bytes32 constant GUARD = 0x{"5a" * 32}; bytes32 constant LOW = 0x{"00" * 32};
    bytes32 constant OWNABLE = {SLOT:#x};
    bytes32 constant NEAR = {SLOT - 1:#x};
    function guard() internal pure returns (Guard storage g) {{ assembly {{ g.slot := GUARD }} }}
    function near() internal pure returns (Guard storage g) {{ assembly {{ g.slot := NEAR }} }}
    function low() internal pure returns (Guard storage g) {{ assembly {{ g.slot := LOW }} }}
    function at(bytes32 s) internal pure returns (Guard storage g) {{ assembly {{ g.slot := s }} }}
    function moved() internal pure returns (Guard storage g) {{
        bytes32 s = GUARD; assembly {{ g.slot := s }} assembly {{ g.slot := 0 }} }}
    function ownable() internal pure returns (Ownable storage o) {{
        bytes32 s = OWNABLE; assembly {{ o.slot := s }} }}
    function owned() public view returns (address) {{
        Ownable storage o = ownable(); return o.who; }}
    function loaded() public view returns (address a) {{ assembly {{ a := tload(0) }} }}
    function stored() public view returns (address a) {{ assembly {{ a := sload(0) }} }}
    function both() public view returns (address, uint256) {{ return (owner, value); }}"""
GUARDED = "guard().status = 2; guard().status = 1;"
BY_OWNER = "require(msg.sender == owner);"
BY_OWNED = "require(msg.sender == owned());"


@pytest.mark.parametrize(
    "body",
    [
        f"{GUARDED} {BY_OWNER}",
        f"{GUARDED} {BY_OWNED}",
        f"Guard storage g = guard(); g.status = FIXED; {BY_OWNED} g.status = 1;",
        f"at(GUARD).status = 1; {BY_OWNER}",
        f"delete guard().who; {BY_OWNER}",
        f"{BY_OWNED} ownable().who = a;",
        f"{BY_OWNER} at(bytes32(uint256(uint160(a)))).who = a;",
        f"assembly {{ tstore(0, caller()) }} {BY_OWNER}",
        "(address who, ) = both(); require(msg.sender == who);",
    ],
)
def test_writes_that_change_no_owner(body: str) -> None:
    functions = functions_of(f"{STORAGE} function f(address a) public {{ {body} value = 1; }}")
    assert functions["f(address)"]["access"] == "restricted"


@pytest.mark.parametrize(
    "body",
    [
        f"ownable().who = msg.sender; {BY_OWNED}",
        f"ownable().who = a; {BY_OWNED}",
        f"near().who = msg.sender; {BY_OWNED}",
        f"near().status = 1; {BY_OWNED}",
        f"low().who = msg.sender; {BY_OWNER}",
        f"low().status = 1; {BY_OWNER}",
        f"moved().status = 1; {BY_OWNER}",
        f"at(bytes32(uint256(uint160(a)))).status = 1; {BY_OWNER}",
        "at(keccak256(abi.encode(0, 2))).who = msg.sender; require(ofId[0] == msg.sender);",
        f"guard().who = msg.sender; {BY_OWNER}",
        f"Guard storage g = guard(); g = low(); g.status = 1; {BY_OWNER}",
        "holder = msg.sender; require(msg.sender == holder);",
        "assembly { tstore(0, caller()) } require(msg.sender == holder);",
        "assembly { tstore(0, caller()) } require(msg.sender == loaded());",
        "owner = msg.sender; require(msg.sender == stored());",
        "owner = msg.sender; require(msg.sender == Own(a).owned());",
        "owner = msg.sender; (address who, ) = both(); require(msg.sender == who);",
        "(address who, address o) = (owner, owner); who = msg.sender; require(msg.sender == who);",
        "(, address who) = (owner, msg.sender); require(msg.sender == who);",
        "ownable().who = msg.sender; address who = Own(address(this)).owned();"
        "require(msg.sender == who);",
    ],
)
def test_ways_around_a_check_by_storage(body: str) -> None:
    functions = functions_of(f"{STORAGE} function f(address a) public {{ {body} value = 1; }}")
    assert functions["f(address)"]["access"] in ("unrecognised", "unrestricted", "arguments")


@pytest.mark.parametrize(
    "text, slot",
    [
        ("assembly { $.slot := LOCATION }", "LOCATION"),
        ('assembly ("memory-safe") { /* { */ r.slot := slot // }\n }', "slot"),
        ("assembly { r_slot := 7 }", "7"),
        ("assembly { r.slot := add(slot, 1) }", None),
        ("assembly { r.slot := slot sstore(0, 1) }", None),
        ("assembly { r.slot := slot r.slot := 1 }", None),
        ("assembly { let slot := 1 r.slot := slot }", None),
        ("assembly { r.offset := slot }", None),
    ],
)
def test_assembly_that_sets_a_pointer(text: str, slot: str | None) -> None:
    assert _read(text).slot == slot


def test_a_check_in_some_calls_says_whom_it_lets_pass() -> None:
    functions = functions_of(
        "address owner = msg.sender; bool open; function f() public {"
        " if (!open) { require(msg.sender == owner); } open = true; }"
    )
    [condition] = functions["f()"]["conditions"]
    assert functions["f()"]["access"] == "unrecognised"
    assert condition["kind"] == "conditional"
    assert [caller["expression"] for caller in condition["callers"]] == ["owner"]


@pytest.mark.parametrize("name", ["$", "own"])
def test_members_of_a_named_structure_are_written_by_name(name: str) -> None:
    functions = functions_of(
        f"""struct S {{ bool paused; uint256 other; }}
        function s() internal pure returns (S storage {name}) {{
            assembly {{ {name}.slot := {SLOT} }} }}
        function pause() public {{ s().paused = true; }}
        function f() public {{ require(!s().paused); s().other = 1; }}"""
    )
    [write] = functions["pause()"]["writes"]
    assert (write["variable"], write["checkedBy"]) == ("paused", ["f()"])
    assert [effect["kind"] for effect in functions["pause()"]["effects"]] == ["pause"]
