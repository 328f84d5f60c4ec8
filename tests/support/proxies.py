"""Proxies as documented code, as Solidity and as instructions, and what every door says of one."""

from eth_utils.crypto import keccak

from scan.contracts.known_proxies import IMPLEMENTATION_SLOT, delegation_text
from scan.contracts.proxy_contracts import stored_delegation
from tests.support.anvil import calldata

# Documented code; `{}` is where an address stands.
EIP1167 = "363d3d373d3d3d363d73{}5af43d82803e903d91602b57fd5bf3"
SLOT = int(IMPLEMENTATION_SLOT, 16)
FALLBACK = """fallback() external payable {
        address to = target(msg.sig);
        assembly {
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), to, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if done { return(0, returndatasize()) }
            revert(0, returndatasize())
        }
    }"""
NAMES = """
00 STOP 01 ADD 14 EQ 15 ISZERO 16 AND 18 XOR 1b SHL 1c SHR 30 ADDRESS 32 ORIGIN 33 CALLER
34 CALLVALUE 35 CALLDATALOAD 36 CALLDATASIZE 37 CALLDATACOPY 3d RETURNDATASIZE 3e RETURNDATACOPY
43 NUMBER 47 SELFBALANCE 50 POP 51 MLOAD 52 MSTORE 54 SLOAD 55 SSTORE 57 JUMPI 5a GAS 5b JUMPDEST
80 DUP1 84 DUP5 f0 CREATE f1 CALL f3 RETURN f4 DELEGATECALL fa STATICCALL fd REVERT
ff SELFDESTRUCT""".split()
OPCODES = dict(zip(NAMES[1::2], NAMES[::2], strict=True))


def assembled(text):
    """Code of instructions, numbers to push, `name:` for a label, and `@name` for its place."""
    code, labels, uses = bytearray(), {}, []
    for word in text.split():
        if word[-1] == ":":
            labels[word[:-1]] = len(code)
            code.append(0x5B)
        elif word[0] == "@":
            uses.append((len(code) + 1, word[1:]))
            code += b"\x61\0\0"
        elif word in OPCODES:
            code += bytes.fromhex(OPCODES[word])
        else:
            number = int(word, 0)
            size = max(1, -(-number.bit_length() // 8))
            code += bytes([0x5F + size]) + number.to_bytes(size)
    for at, name in uses:
        code[at : at + 2] = labels[name].to_bytes(2)
    return bytes(code)


FORWARD = """CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 DUP5 GAS DELEGATECALL
    RETURNDATASIZE 0 0 RETURNDATACOPY @ok JUMPI RETURNDATASIZE 0 REVERT
    ok: RETURNDATASIZE 0 RETURN"""
THIEVES = f"7 SLOAD {FORWARD.replace('ok', 'stolen')}"


def either(condition):
    """Passes a call on to the vault where a condition is true, else to the thief."""
    return f"{condition} @honest JUMPI {THIEVES} honest: {SLOT} SLOAD {FORWARD}"


def stored(code):
    return stored_delegation(delegation_text(code))


def word(address):
    return f"0x{address[2:]:0>64}"


# Slots by the kind that they are of: the hashes of what the standards name.
SLOTS = {
    "eip1967": IMPLEMENTATION_SLOT,
    "eip1822": f"0x{keccak(text='PROXIABLE').hex()}",
    "openzeppelin": f"0x{keccak(text='org.zeppelinos.proxy.implementation').hex()}",
}


def is_a_proxy(kind):
    """What the page of a contract says of its kind."""
    if kind == "other":
        return "is a proxy:"
    number = kind.removeprefix("eip")
    standard = "EIP" if kind == "eip7702" else "ERC"
    name = kind.replace("-", " ") if number == kind else f"{standard}-{number}"
    return f"is a proxy ({name})"


def expect(explorer, proxy, kind, implementation, evidence):
    """Calls, sent ones, too, the page, and Etherscan's and Blockscout's forms know the
    implementation once a call was sent, with the evidence."""
    call = explorer.transact(proxy, calldata("nothing()"))["method"]
    assert (call["signature"], call["source"]) == ("nothing()", "verified"), call
    assert call["evidence"] in {evidence, "trace"}
    answer = explorer.call(proxy, "over(uint256)", 5)
    assert answer.json == {
        "result": "number",
        "implementation": implementation,
        "evidence": "code" if evidence == "code" else "claim",  # this function was not sent
        "unproven": ["result", "implementation"],
    }, answer.json
    page = explorer.get(f"/address/{proxy}?tab=contract&view=read")
    assert is_a_proxy(kind) in page and f"/address/{implementation}" in page
    assert "over(" in page
    check = f"/api?module=contract&action=checkproxyverification&guid=proxy-{proxy[2:]}-any"
    assert implementation in explorer.get(check)["result"]
    shown = explorer.get(f"/api/v2/addresses/{proxy}")
    assert [row["address_hash"].lower() for row in shown["implementations"]] == [implementation]


# Passes a call on to the contract in the slot that the hash of its selector names; facetAddress().
SELECTING = bytes.fromhex("5f3560e01c5f5260205f2054365f6040375f5f366040845af4" + "cdffacc6")


class Lying:
    """A node on which every function returns this, and every slot is empty."""

    failed = False

    def __init__(self, answer):
        self.answer = answer

    def within(self, seconds):
        return self

    def results(self, calls, most_bytes=0):
        return [self.answer if call.method == "eth_call" else "0x" + 64 * "0" for call in calls]


def array(*words, offset=32, count=None):
    count = len(words) if count is None else count
    return "0x" + "".join(f"{value:064x}" for value in (offset, count, *words))
