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

TARGETS, INPUTS, BATCHED = [TO, OTHER], [b"data", b""], [(TO, 5, b"data"), (OTHER, 0, b"")]
ONE, SEVERAL = [AccountCall(TO, 5, b"data")], [AccountCall(*of) for of in BATCHED]
WORTHLESS = [account_call._replace(value=0) for account_call in SEVERAL]


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


@pytest.mark.parametrize(
    ("call_data", "calls"),
    [
        (call("execute(address,uint256,bytes)", TO, 5, b"data"), ONE),
        # Kernel, Biconomy, and Safe, which delegates.
        (call("execute(address,uint256,bytes,uint8)", TO, 5, b"data", 0), ONE),
        (call("execute_ncC(address,uint256,bytes)", TO, 5, b"data"), ONE),
        (
            call("executeUserOp(address,uint256,bytes,uint8)", TO, 5, b"data", 1),
            [ONE[0]._replace(is_delegated=True)],
        ),
        (call("executeBatch(address[],bytes[])", TARGETS, INPUTS), WORTHLESS),
        (call("executeBatch(address[],uint256[],bytes[])", TARGETS, [5, 0], INPUTS), SEVERAL),
        (call("executeBatch(address[],uint256[],bytes[])", TARGETS, [], INPUTS), WORTHLESS),
        (call("executeBatch((address,uint256,bytes)[])", BATCHED), SEVERAL),
        # ERC-7579.
        (by_mode("00", TO + (5).to_bytes(32) + b"data"), ONE),
        (by_mode("01", encode(["(address,uint256,bytes)[]"], [BATCHED])), SEVERAL),
        (by_mode("ff", TO + b"data"), [AccountCall(TO, 0, b"data", is_delegated=True)]),
        (
            keccak(text=f"executeUserOp({PACKED},bytes32)")[:4]
            + call("execute(address,uint256,bytes)", TO, 5, b"data"),
            ONE,
        ),
        (b"", []),
    ],
    ids="one Kernel Biconomy Safe without-values lists no-values calls ERC-7579-one"
    " ERC-7579-several ERC-7579-delegated executeUserOp nothing".split(),
)
def test_calls_of_accounts_are_known(call_data, calls):
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
        call("execute(address,uint256,bytes)", TO, 5, b"data")[:-33],
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
