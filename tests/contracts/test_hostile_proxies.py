"""Code that passes some calls on to one contract and others to another: no implementation of it is
named, whatever it asks to tell calls apart. Beside it, designs whose implementation is named."""

from functools import cache

import pytest

from scan.contracts.delegation import BUDGET, Steps
from scan.contracts.delegation_targets import CHAIN_ID, CODE, Read, State
from scan.contracts.proxy_contracts import (
    BLOCK_STEPS,
    IMPLEMENTATION_SLOT,
    REQUEST_STEPS,
    STEPS_OF_READ,
    at_blocks,
    delegation_of,
    delegations_of,
    request_steps,
    stored_delegation,
)

pytestmark = pytest.mark.check

PROXY, VAULT, THIEF = (bytes([n]) * 20 for n in (0x11, 0xAA, 0xBB))
HELPER, WRITER, FAILING, EMPTY, LONG = (bytes([n]) * 20 for n in range(0xC1, 0xC6))
SLOT = int(IMPLEMENTATION_SLOT, 16)
NAMES = """
00 STOP 01 ADD 02 MUL 03 SUB 04 DIV 06 MOD 10 LT 11 GT 14 EQ 15 ISZERO 16 AND 17 OR 18 XOR 19 NOT
1a BYTE 1b SHL 1c SHR 20 KECCAK256 30 ADDRESS 31 BALANCE 32 ORIGIN 33 CALLER 34 CALLVALUE 35
CALLDATALOAD 36 CALLDATASIZE 37 CALLDATACOPY 38 CODESIZE 39 CODECOPY 3a GASPRICE 3b EXTCODESIZE 3c
EXTCODECOPY 3d RETURNDATASIZE 3e RETURNDATACOPY 3f EXTCODEHASH 40 BLOCKHASH 41 COINBASE 42
TIMESTAMP 43 NUMBER 44 PREVRANDAO 45 GASLIMIT 46 CHAINID 47 SELFBALANCE 48 BASEFEE 49 BLOBHASH 4a
BLOBBASEFEE 4e LATER 50 POP 51 MLOAD 52 MSTORE 53 MSTORE8 54 SLOAD 55 SSTORE 56 JUMP 57 JUMPI 58
PC 59 MSIZE 5a GAS 5b JUMPDEST 5c TLOAD 5d TSTORE 5e MCOPY 80 DUP1 81 DUP2 82 DUP3 83 DUP4 84 DUP5
90 SWAP1 91 SWAP2 f0 CREATE f1 CALL f2 CALLCODE f3 RETURN f4 DELEGATECALL f5 CREATE2 fa STATICCALL
fd REVERT ff SELFDESTRUCT""".split()
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


def asks(of, write=""):
    """The word that a contract answers to implementation()."""
    return f"""{write} 0x5c60da1b 224 SHL 0 MSTORE 32 0 4 0 {of} GAS STATICCALL POP 0 MLOAD"""


BRANCHES = {
    "chain id": "CHAINID 0x80000000 EQ",
    "number": "NUMBER 1000 LT",
    "number's parity": "NUMBER 1 AND",
    "time": "TIMESTAMP 0x80000000 EQ",
    "coinbase": "COINBASE 0x80000000 EQ",
    "randomness": "PREVRANDAO 1 AND",
    "gas limit": "GASLIMIT 0x80000000 EQ",
    "gas price": "GASPRICE 0x80000000 EQ",
    "gas": "GAS 0x80000000 EQ",
    "a balance": "7 BALANCE ISZERO",
    "its balance": "SELFBALANCE ISZERO",
    "a block's hash": "1 BLOCKHASH ISZERO",
    "base fee": "BASEFEE 0x80000000 EQ",
    "blob": "0 BLOBHASH ISZERO",
    "blob fee": "BLOBBASEFEE 0x80000000 EQ",
    "transient storage": "0 TLOAD ISZERO",
    "size of code": "CALLER EXTCODESIZE ISZERO",
    "hash of code": "CALLER EXTCODEHASH 1 EQ",
    "copied code": "32 0 0 CALLER EXTCODECOPY 0 MLOAD ISZERO",
    "caller": "CALLER 7 EQ",
    "caller in storage": "0 CALLER 0 MSTORE 64 0 KECCAK256 SLOAD ISZERO EQ",
    "origin": "ORIGIN CALLER EQ",
    "coin": "CALLVALUE ISZERO",
    "size of data": "CALLDATASIZE 100 EQ ISZERO",
    "size of data, of many": "CALLDATASIZE 7 MOD",
    "size of data, as memory": "CALLDATASIZE 0 0 CALLDATACOPY MSIZE 64 EQ",
    "an argument": "4 CALLDATALOAD 1 AND",
    "an argument behind others": "100 CALLDATALOAD ISZERO",
    "memory behind the data": "CALLDATASIZE 0 0 CALLDATACOPY 96 MLOAD ISZERO",
    "a place by the size": "7 CALLDATASIZE MSTORE 36 MLOAD 7 EQ",
    "data at a place by the size": "7 36 MSTORE CALLDATASIZE MLOAD 7 EQ",
    "a hash of the data": "CALLDATASIZE 0 0 CALLDATACOPY CALLDATASIZE 0 KECCAK256 3 AND",
    "the function": "0 CALLDATALOAD 224 SHR 0xd0e30db0 EQ ISZERO",
    "the function, by its hash": "0 CALLDATALOAD 224 SHR 7 MUL 5 XOR 0x1234 GT",
    "gas, twice": "GAS 1 AND @skip JUMPI 0 0 REVERT skip: GAS 1 AND",
    "what a call returns": "0 0 4 0 7 GAS STATICCALL",
    "a new contract": "0 0 0 CREATE ISZERO",
    "a new contract of a salt": "0 0 0 0 CREATE2 ISZERO",
}
OTHERS = {
    "without a branch": f"7 SLOAD {SLOT} SLOAD DUP2 XOR NUMBER 1 AND MUL XOR {FORWARD}",
    "a slot of the block": f"NUMBER SLOAD {FORWARD}",
    "a slot of the caller": f"CALLER SLOAD {FORWARD}",
    "an argument as target": f"4 CALLDATALOAD {FORWARD}",
    "a jump to a place of the block": f"""@places NUMBER 1 AND 4 MUL ADD JUMP
        places: @honest JUMP places2: {THIEVES} honest: {SLOT} SLOAD {FORWARD}""",
    "the second place of a table, by the function": f"""2 0 CALLDATALOAD 224 SHR 3 SWAP1 MOD
        3 MUL @table ADD 2 ADD 30 CODECOPY 0 MLOAD JUMP
        first: @honest JUMP second: {THIEVES} third: @honest JUMP
        honest: {SLOT} SLOAD {FORWARD} table: @first @second @third""",
    "what it is called with": f"0 0 0 0 1 0x{HELPER.hex()} GAS CALL POP {SLOT} SLOAD {FORWARD}",
    "other code that writes": f"0 0 0 0 7 SLOAD GAS DELEGATECALL POP {SLOT} SLOAD {FORWARD}",
    "what it writes itself": f"7 SLOAD NUMBER SSTORE {SLOT} SLOAD {FORWARD}",
    "a second call": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD 0 DELEGATECALL POP {THIEVES}""",
    "a second call where the first fails": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL @done JUMPI {THIEVES} done: STOP""",
    "calls that it keeps": f"CALLER 7 EQ @kept JUMPI {SLOT} SLOAD {FORWARD} kept: STOP",
    "coin that it keeps": f"""CALLER 7 EQ @honest JUMPI 0 0 0 0 CALLVALUE 7 SLOAD GAS CALL POP STOP
        honest: {SLOT} SLOAD {FORWARD}""",
    "steps before": f"""CALLER 7 EQ @honest JUMPI 0xffff loop: 1 SWAP1 SUB DUP1 @loop JUMPI
        {THIEVES} honest: {SLOT} SLOAD {FORWARD}""",
    "a call without coin that calls back": f"""CALLDATASIZE @called JUMPI
        7 SLOAD {SLOT} SSTORE STOP called: 0 0 0 0 0 0x{WRITER.hex()} GAS CALL POP
        {SLOT} SLOAD {FORWARD}""",
    "a longer answer of a way": f"""32 0 0 0 0x{LONG.hex()} GAS STATICCALL POP
        CALLER 7 EQ @honest JUMPI RETURNDATASIZE 0 0 RETURNDATACOPY {THIEVES}
        honest: {SLOT} SLOAD {FORWARD}""",
    "a call that may fail": f"""0 0 0 0 0x{FAILING.hex()} GAS STATICCALL @honest JUMPI
        {THIEVES} honest: {SLOT} SLOAD {FORWARD}""",
    "a call that may fail, without a check": f"""0x{THIEF.hex()} 0 MSTORE
        32 0 0 0 0x{FAILING.hex()} GAS STATICCALL POP 0 MLOAD {FORWARD}""",
    "a call with little gas": f"""0 0 0 0 0x{EMPTY.hex()} 100 STATICCALL @honest JUMPI
        {THIEVES} honest: {SLOT} SLOAD {FORWARD}""",
    "a call on without gas": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD 1000 DELEGATECALL POP STOP""",
    "a call on that may fail": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL @done JUMPI STOP done: STOP""",
    "coin that goes elsewhere before": f"""{SLOT} SLOAD 0 0 0 0 CALLVALUE 7 SLOAD GAS CALL POP
        {FORWARD}""",
    "coin that goes elsewhere after": f"""CALLDATASIZE 0 0 CALLDATACOPY
        0 0 CALLDATASIZE 0 {SLOT} SLOAD GAS DELEGATECALL POP
        0 0 0 0 SELFBALANCE 7 SLOAD GAS CALL POP STOP""",
    "an instruction of a later fork": f"""LATER @honest JUMPI {THIEVES}
        honest: {SLOT} SLOAD {FORWARD}""",
    "a way of one caller by an instruction of a later fork": f"""CALLER 7 EQ @honest JUMPI LATER
        {THIEVES} honest: {SLOT} SLOAD {FORWARD}""",
    "an answer of the block": f"{asks('0x' + HELPER.hex())} {FORWARD}",
}
LIAR = assembled(f"NUMBER 1 AND @honest JUMPI 0x{THIEF.hex()} 0 MSTORE 32 0 RETURN "
                 f"honest: 0x{VAULT.hex()} 0 MSTORE 32 0 RETURN")  # fmt: skip


def word(number):
    return number.to_bytes(32)


def of_address(address):
    return address.rjust(32, b"\0")


STATE = {
    Read(b"", word(SLOT)): of_address(VAULT),
    Read(b"", word(7)): of_address(THIEF),
    Read(b"", CHAIN_ID): word(31337),
    Read(HELPER, CODE): LIAR,
    Read(LONG, CODE): assembled("64 0 RETURN"),
    Read(WRITER, CODE): assembled(f"0 0 0 0 0 0x{PROXY.hex()} GAS CALL STOP"),
    Read(FAILING, CODE): assembled(f"""NUMBER 1 AND @fails JUMPI 0x{VAULT.hex()} 0 MSTORE
        32 0 RETURN fails: 0 0 REVERT"""),
}


class Storage(dict):
    """What is known of the chain: nothing where nothing was stored."""

    def __contains__(self, read):
        return True

    def get(self, read):
        return super().get(read, b"" if read.what == CODE else bytes(32))


def targets(code):
    """Where code passes calls on, after it was stored and read."""
    delegation = delegation_of(code, Steps(BUDGET))
    stored = stored_delegation(delegation.text)
    assert stored.own == delegation.own
    storage = Storage(STATE | {Read(PROXY, CODE): code})
    return State(storage, Steps(BUDGET)).targets(stored.ways, PROXY)


def test_a_chain_id_that_decides_is_known():
    assert targets(assembled(either(BRANCHES["chain id"]))).target == THIEF


DATA, OTHER_CODE = "the call's data", "what other contracts do in the call"
DEPENDS_ON = {
    "number": "the block's number",
    "number's parity": "the block's number",
    "time": "the block's time",
    "coinbase": "the block's fee recipient",
    "randomness": "the block's randomness",
    "gas limit": "the block's gas limit",
    "gas price": "the gas price",
    "gas": "the gas that is left",
    "a balance": "a balance",
    "its balance": "a balance",
    "a block's hash": "a block's hash",
    "base fee": "the block's base fee",
    "blob": "the transaction's blobs",
    "blob fee": "the block's blob base fee",
    "transient storage": "transient storage",
    "size of code": "the code of accounts",
    "hash of code": "the code of accounts",
    "copied code": "the code of accounts",
    "caller": "the caller",
    "caller in storage": "the caller",
    "origin": "the caller, the sender of the transaction",
    "coin": "the coin that is sent",
    "size of data": "the size of the call's data",
    "size of data, of many": "the size of the call's data",
    "size of data, as memory": "the size of its memory",
    "an argument": DATA,
    "an argument behind others": DATA,
    "memory behind the data": DATA,
    "a place by the size": DATA,
    "data at a place by the size": DATA,
    "a hash of the data": DATA,
    "the function": "the function that is called",
    "the function, by its hash": DATA,
    "gas, twice": "the gas that is left",
    "what a call returns": OTHER_CODE,
    "a new contract": OTHER_CODE,
    "a new contract of a salt": OTHER_CODE,
}


@pytest.mark.parametrize("name", sorted(BRANCHES.keys() - {"chain id"}))
def test_what_decides_is_named_and_no_implementation(name):
    result = targets(assembled(either(BRANCHES[name])))
    assert (result.target, ", ".join(result.depends_on)) == (b"", DEPENDS_ON[name])


@pytest.mark.parametrize("name", OTHERS)
def test_what_hides_the_target_otherwise(name):
    assert not targets(assembled(OTHERS[name])).target


KEEPING = {
    "coin without data": f"""CALLDATASIZE @data JUMPI 0 0 0 0 CALLVALUE 0x{THIEF.hex()} GAS CALL
        STOP data:""",
    "a function": f"""0 CALLDATALOAD 224 SHR 0xd0e30db0 EQ ISZERO @data JUMPI
        0 0 0 0 CALLVALUE 0x{THIEF.hex()} GAS CALL STOP data:""",
}


@pytest.mark.parametrize("name", KEEPING)
def test_a_clone_that_keeps_something_is_none_of_its_implementation(name):
    """Else it would have that one's verified source."""
    clone = assembled(f"0x{VAULT.hex()} {FORWARD}")
    assert delegation_of(clone, Steps(BUDGET)).kind == "eip1167"
    keeping = assembled(f"{KEEPING[name]} 0x{VAULT.hex()} {FORWARD}")
    delegation = delegation_of(keeping, Steps(BUDGET))
    assert (delegation.kind, delegation.proxy.implementation) == ("immutable", VAULT)


def burning(number):
    """Takes all steps, differently from others; it looks as if it might pass a call on."""
    return assembled(f"{number} POP l: GAS @l JUMPI @l JUMP") + b"\xf4"


class Burning:
    """A node on which each contract asks another one, whose code takes all steps."""

    failed = False
    call_count = 0

    def __init__(self):
        self.of_request = cache(lambda make: make())

    def record_failed(self):
        self.failed = True

    def results(self, calls, most_bytes=0):
        self.call_count += len(calls)
        return [
            "0x" + burning(int(call.params[0], 16)).hex()
            if call.method == "eth_getCode"
            else call.params[0].replace("0x", "0x" + 24 * "0")
            for call in calls
        ]


def test_a_request_follows_no_more_code_than_its_steps_suffice_for():
    """Of all contracts that it names together."""
    code = assembled(f"{asks('0 SLOAD')} {FORWARD}")
    delegation, node = delegation_of(code, Steps(BUDGET)), Burning()
    proxies = [(number.to_bytes(20), delegation, None) for number in range(1 << 20, (1 << 20) + 50)]
    for _ in range(3):  # one after the other, of the same request
        assert not any(proxy and proxy.implementation for proxy in at_blocks(node, proxies))
    assert node.failed and node.call_count * STEPS_OF_READ < REQUEST_STEPS
    assert node.of_request(request_steps).left < BUDGET


def test_a_block_follows_no_more_codes_than_its_steps_suffice_for():
    """The others are not known yet: neither proxies nor none."""
    codes = [burning(number) for number in range(3 * BLOCK_STEPS // BUDGET)]
    delegations = delegations_of(codes)
    count = BLOCK_STEPS // BUDGET
    assert delegations[: count - 1] == [""] * (count - 1)
    assert delegations[count + 1 :] == [None] * (len(codes) - count - 1)
    assert not stored_delegation(None).is_known
