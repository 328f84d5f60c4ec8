"""Bundles and the calls of operations, of every kind that is known, and hostile ones."""

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.extensions.user_operations.calls import (
    AccountCall,
    BundledOperation,
    account_calls,
    bundled_operations,
)
from scan.extensions.user_operations.tests.packed import OTHER, PACKED, PACKED_FIELDS, SENDER, TO
from tests.support.anvil import encoded_call as call

pytestmark = pytest.mark.check

ONE, SEVERAL = (
    [AccountCall(TO, 5, b"data")],
    [AccountCall(TO, 5, b"data"), AccountCall(OTHER, 0, b"")],
)
TARGETS, VALUES, INPUTS = [TO, OTHER], [5, 0], [b"data", b""]


@pytest.mark.parametrize(
    ("type_", "fields"),
    [
        (
            "(address,uint256,bytes,bytes,uint256,uint256,uint256,uint256,uint256,bytes,bytes)",
            (SENDER, 7, b"i", b"c", 1, 2, 3, 4, 5, b"p", b"s"),
        ),
        (PACKED, PACKED_FIELDS),
    ],
    ids=["0.6", "0.7"],
)
def test_operations_of_bundles_are_those_that_were_signed(type_, fields):
    operation = BundledOperation(SENDER, 7, b"i", b"c", 1, 2, 3, 4, 5, b"p", b"s")
    plain = call(f"handleOps({type_}[],address)", [fields, fields], OTHER)
    assert bundled_operations(plain) == [operation, operation]
    aggregated = [([fields], TO, b"1"), ([], TO, b""), ([fields, fields], OTHER, b"2")]
    name = f"handleAggregatedOps(({type_}[],address,bytes)[],address)"
    assert bundled_operations(call(name, aggregated, OTHER)) == [operation] * 3
    assert bundled_operations(plain[:-40]) == bundled_operations(b"\x01\x02\x03\x04") == []


def by_mode(mode, data):
    return call("execute(bytes32,bytes)", bytes.fromhex(mode).ljust(32, b"\0"), data)


BATCHED = [*zip(TARGETS, VALUES, INPUTS, strict=True)]
BATCH = encode(["(address,uint256,bytes)[]"], [BATCHED])
EXECUTIONS = {
    "one": (call("execute(address,uint256,bytes)", TO, 5, b"data"), ONE),
    "Kernel": (call("execute(address,uint256,bytes,uint8)", TO, 5, b"data", 0), ONE),
    "Biconomy": (call("execute_ncC(address,uint256,bytes)", TO, 5, b"data"), ONE),
    "Safe, delegated": (
        call("executeUserOp(address,uint256,bytes,uint8)", TO, 5, b"data", 1),
        [ONE[0]._replace(is_delegated=True)],
    ),
    "without values": (
        call("executeBatch(address[],bytes[])", TARGETS, INPUTS),
        [account_call._replace(value=0) for account_call in SEVERAL],
    ),
    "lists": (call("executeBatch(address[],uint256[],bytes[])", TARGETS, VALUES, INPUTS), SEVERAL),
    "no values": (
        call("executeBatch(address[],uint256[],bytes[])", TARGETS, [], INPUTS),
        [account_call._replace(value=0) for account_call in SEVERAL],
    ),
    "calls": (call("executeBatch((address,uint256,bytes)[])", BATCHED), SEVERAL),
    "ERC-7579, one": (by_mode("00", TO + (5).to_bytes(32) + b"data"), ONE),
    "ERC-7579, several": (by_mode("01", BATCH), SEVERAL),
    "ERC-7579, delegated": (
        by_mode("ff", TO + b"data"),
        [AccountCall(TO, 0, b"data", is_delegated=True)],
    ),
    "executeUserOp": (
        keccak(text=f"executeUserOp({PACKED},bytes32)")[:4]
        + call("execute(address,uint256,bytes)", TO, 5, b"data"),
        ONE,
    ),
    "nothing": (b"", []),
}


@pytest.mark.parametrize("name", EXECUTIONS)
def test_calls_of_accounts_are_known(name):
    call_data, calls = EXECUTIONS[name]
    assert account_calls(SENDER, call_data) == calls


def aliased(count, size):
    """A batch whose inputs are all the same bytes: `count` times as large as it is."""
    head = call("executeBatch(address[],bytes[])", [TO] * count, [b""] * count)
    start = 4 + int.from_bytes(head[36:68])
    offsets = (32 * count).to_bytes(32) * count
    return head[: start + 32] + offsets + size.to_bytes(32) + bytes(size)


@pytest.mark.parametrize(
    "call_data",
    [
        EXECUTIONS["one"][0][:-33],
        call("executeBatch(address[],bytes[])", TARGETS, INPUTS[:1]),
        by_mode("02", b"x" * 100),
        by_mode("00", b"short"),
        by_mode("01", b"\xff" * 64),
        aliased(1000, 100_000),
        b"\x12\x34",
        b"\x12\x34\x56\x78" + bytes(64),
    ],
)
def test_what_is_no_such_call_is_a_call_of_the_account(call_data):
    assert account_calls(SENDER, call_data) == [AccountCall(SENDER, 0, call_data)]


def test_a_batch_of_the_same_bytes_is_bounded():
    assert len(account_calls(SENDER, aliased(10, 1000))) == 10
