"""Code that passes some calls on to one contract and others to another, or that names one and runs
another: what a trace shows is named, and what is only claimed is said to be."""

import pytest

from tests.support.anvil import calldata
from tests.support.proxies import FORWARD, SLOT, THIEVES, assembled, either

THIEF, HELPER = (bytes([n]) * 20 for n in (0xC0, 0xC1))


# Code is not run to see what it does, so that what a branch depends on is all the same: these pass
# on every call as they should, none, some of them, some functions, some arguments.
BRANCHES = {
    "origin": "ORIGIN CALLER EQ",
    "caller": "CALLER 7 EQ",
    "gas, twice": "GAS 1 AND @skip JUMPI 0 0 REVERT skip: GAS 1 AND",
    "the function": "0 CALLDATALOAD 224 SHR 0xd0e30db0 EQ ISZERO",
    "an argument": "4 CALLDATALOAD 1 AND",
}
OTHERS = {
    "what a helper answers to implementation()": f"""0x5c60da1b 224 SHL 0 MSTORE
        32 0 4 0 0x{HELPER.hex()} GAS STATICCALL POP 0 MLOAD {FORWARD}""",
    "other code that writes": f"0 0 0 0 7 SLOAD GAS DELEGATECALL POP {SLOT} SLOAD {FORWARD}",
    "what it writes itself": f"7 SLOAD NUMBER SSTORE {SLOT} SLOAD {FORWARD}",
    "a second call": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD 0 DELEGATECALL POP {THIEVES}""",
    "a second call where the first fails": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL @done JUMPI {THIEVES} done: STOP""",
    "calls that it keeps": f"CALLER 7 EQ @kept JUMPI {SLOT} SLOAD {FORWARD} kept: STOP",
    "coin that it keeps": f"""CALLER 7 EQ @honest JUMPI 0 0 0 0 CALLVALUE 7 SLOAD GAS CALL POP STOP
        honest: {SLOT} SLOAD {FORWARD}""",
    "a call without coin that calls back": f"""CALLDATASIZE @called JUMPI
        7 SLOAD {SLOT} SSTORE STOP called: 0 0 0 0 0 ADDRESS GAS CALL POP
        {SLOT} SLOAD {FORWARD}""",
    "a call on without gas": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD 1000 DELEGATECALL POP STOP""",
    "a call on that may fail": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL @done JUMPI STOP done: STOP""",
    "coin that goes elsewhere before": f"""{SLOT} SLOAD 0 0 0 0 CALLVALUE 7 SLOAD GAS CALL POP
        {FORWARD}""",
    "coin that goes elsewhere after": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL POP
        0 0 0 0 SELFBALANCE 7 SLOAD GAS CALL POP STOP""",
}
DESIGNS = {name: either(condition) for name, condition in BRANCHES.items()} | OTHERS
HELPERS = {THIEF: "1 0 MSTORE 32 0 RETURN", HELPER: f"0x{THIEF.hex()} 0 MSTORE 32 0 RETURN"}
FUNCTIONS = ("nothing()", "over(uint256)", "grow(uint256)")


class Sent:
    """The designs on a node, after calls of each; what their traces show, by contract."""

    def __init__(self, explorer, vault):
        self.explorer, self.vault, anvil = explorer, vault, explorer.anvil
        for at, code in HELPERS.items():
            anvil.call("anvil_setCode", "0x" + at.hex(), "0x" + assembled(code).hex())
        self.at = {name: explorer.place(assembled(code).hex()) for name, code in DESIGNS.items()}
        for proxy in self.at.values():
            for slot, to in ((SLOT, vault), (7, "0x" + THIEF.hex())):
                anvil.call("anvil_setStorageAt", proxy, f"0x{slot:064x}", f"0x{to[2:]:0>64}")
        for function in FUNCTIONS:
            data = calldata(function, *([5] if "uint" in function else []))
            sent = [
                anvil.send(anvil.accounts[0], at, data=data, gas=300_000) for at in self.at.values()
            ]
            anvil.mine()
        self.ran = {proxy: {} for proxy in self.at.values()}
        explorer.wait_for_block(anvil.head())
        for number in range(anvil.head() - len(FUNCTIONS) + 1, anvil.head() + 1):
            block = anvil.call("eth_getBlockByNumber", hex(number), False)
            for hash_ in block["transactions"]:
                self.note(anvil.call("debug_traceTransaction", hash_, {"tracer": "callTracer"}))
        assert sent

    def note(self, frame):
        """The last call of each function that was passed on whole, to one contract alone."""
        if frame.get("error"):
            return
        if frame["type"] == "CALL" and frame.get("to") in self.ran and len(frame["input"]) >= 10:
            lent = {
                inner["to"]
                for inner in frame.get("calls", ())
                if inner["type"] == "DELEGATECALL"
                and inner["input"] == frame["input"]
                and not inner.get("error")
            }
            self.ran[frame["to"]][frame["input"][:10]] = lent.pop() if len(lent) == 1 else None
        for inner in frame.get("calls", ()):
            self.note(inner)


@pytest.fixture(scope="module")
def sent(explorer, many):
    return Sent(explorer, many)


@pytest.mark.parametrize("name", DESIGNS)
def test_what_traces_show_is_named_and_what_is_claimed_is_said_to_be(sent, name):
    proxy, vault = sent.at[name], sent.vault
    shown = sent.explorer.get(f"/api/v2/addresses/{proxy}")
    named = {row["address_hash"].lower() for row in shown["implementations"]}
    assert named == {to for to in sent.ran[proxy].values() if to}
    answer = sent.explorer.call(proxy, "over(uint256)", 5).json  # which may fail now
    over = sent.ran[proxy].get(calldata("over(uint256)", 5)[:10])
    assert answer.get("evidence") in {None, "trace" if over == vault else "claim"}, answer


def test_the_designs_are_hostile(sent):
    """Most of them ran the thief, or both."""
    thief = "0x" + THIEF.hex()
    robbed = [name for name, at in sent.at.items() if thief in sent.ran[at].values()]
    assert len(robbed) > len(DESIGNS) // 3, robbed
