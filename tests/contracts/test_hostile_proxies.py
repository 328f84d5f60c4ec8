"""Code that passes some calls on to one contract and others to another, or that names one and runs
another: what a trace shows is named, and what is only claimed is said to be."""

import pytest

from tests.support.anvil import calldata
from tests.support.proxies import FORWARD, SLOT, THIEVES, assembled, either

HELPER = "0x" + 20 * "c1"
OVER = calldata("over(uint256)", 5)
# Code, the contracts that run for it, and the evidence for over(uint256); None where the call is
# refused. No code is run to see what it does, so that what a branch depends on is all the same.
DESIGNS = {
    "the caller": (either("CALLER 7 EQ"), "thief", None),
    "the function": (either(f"0 CALLDATALOAD 224 SHR {OVER[:10]} EQ ISZERO"), "vault thief", None),
    "an argument": (either("4 CALLDATALOAD 1 AND"), "vault thief", "trace"),
    "what a helper answers to implementation()": (
        f"""0x5c60da1b 224 SHL 0 MSTORE
        32 0 4 0 {HELPER} GAS STATICCALL POP 0 MLOAD {FORWARD}""",
        "thief",
        None,
    ),
    "what it writes itself": (f"7 SLOAD NUMBER SSTORE {SLOT} SLOAD {FORWARD}", "vault", "trace"),
    "a second call where the first fails": (
        f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD 0 DELEGATECALL POP {THIEVES}""",
        "thief",
        None,
    ),
    "two calls": (
        f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL POP {THIEVES}""",
        "",
        None,
    ),
}


@pytest.mark.parametrize(("code", "names", "evidence"), DESIGNS.values(), ids=DESIGNS)
def test_what_traces_show_is_named_and_what_is_claimed_is_said_to_be(
    explorer, many, code, names, evidence
):
    anvil, thief = explorer.anvil, "0x" + 20 * "c0"
    contracts = {"vault": many, "thief": thief}
    for at, answer in ((thief, "1"), (HELPER, thief)):
        runtime = assembled(f"{answer} 0 MSTORE 32 0 RETURN").hex()
        anvil.call("anvil_setCode", at, f"0x{runtime}")
    proxy = explorer.place(assembled(code).hex())
    for slot, to in ((SLOT, many), (7, thief)):
        anvil.call("anvil_setStorageAt", proxy, f"0x{slot:064x}", f"0x{to[2:]:0>64}")
    for data in (calldata("nothing()"), OVER):
        explorer.send(proxy, data, gas=300_000)
    shown = explorer.get(f"/api/v2/addresses/{proxy}")["implementations"]
    named = {row["address_hash"].lower() for row in shown}
    assert named == {contracts[name] for name in names.split()}
    answer = explorer.call(proxy, "over(uint256)", 5).json
    assert answer.get("evidence") == evidence, answer
