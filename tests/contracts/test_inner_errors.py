"""Errors in the bytes of an argument: how many, how deep and how large ones are looked for."""

import pytest
from eth_abi import encode
from eth_utils import keccak

from scan.contracts import revert_reasons
from scan.contracts.abi_decoding import Argument, DecodingBudget, index_abi
from scan.contracts.revert_reasons import MAX_INNER, MAX_INNER_BYTES, MAX_INNER_DEPTH
from scan.hex import to_hex

pytestmark = pytest.mark.check


def outer(inner):
    return keccak(text="Outer(bytes)")[:4] + encode(["bytes"], [inner])


def inner_errors(type_, value):
    abi = [{"type": "error", "name": "Outer", "inputs": [{"name": "inner", "type": "bytes"}]}]
    budget = DecodingBudget(processor_s=60.0)
    inner = revert_reasons.InnerErrors([index_abi(abi)], {}, budget)
    [argument] = inner.in_arguments([Argument("a", type_, value)])
    return argument.errors


def depth_of(errors):
    """Of errors that have one each."""
    return 1 + depth_of(errors[0][1].arguments[0].errors) if errors else 0


@pytest.mark.parametrize("count", [1, MAX_INNER, MAX_INNER + 1, 10 * MAX_INNER])
def test_so_many_errors_are_decoded(count):
    errors = inner_errors("bytes[]", [to_hex(outer(b""))] * count)
    paths = [f"[{n}]" for n in range(min(count, MAX_INNER))]
    assert [path for path, _ in errors] == paths


def test_errors_of_all_arguments_and_levels_are_counted_together():
    """Here two of each argument, one in the other."""
    nested = to_hex(outer(outer(b"")))
    errors = inner_errors("bytes[]", [nested] * MAX_INNER)
    assert sum(depth_of([error]) for error in errors) == MAX_INNER
    assert len(errors) == MAX_INNER // 2


@pytest.mark.parametrize("levels", [1, MAX_INNER_DEPTH, MAX_INNER_DEPTH + 1])
def test_errors_are_decoded_to_a_depth(levels):
    nested = b""
    for _ in range(levels):
        nested = outer(nested)
    assert depth_of(inner_errors("bytes", to_hex(nested))) == min(levels, MAX_INNER_DEPTH)


@pytest.mark.parametrize(("more_bytes", "is_decoded"), [(0, True), (32, False)])
def test_larger_bytes_are_no_error(more_bytes, is_decoded):
    size = MAX_INNER_BYTES // 32 * 32 - 4 * 32 + more_bytes  # beside two words and the selector
    content = outer(bytes(size + 32))
    assert len(content) - more_bytes == MAX_INNER_BYTES - 32 + 4
    assert bool(inner_errors("bytes", to_hex(content))) is is_decoded


def test_few_selectors_are_looked_up():
    words = [n.to_bytes(4) + bytes(28) for n in range(1, 2 * MAX_INNER)]
    assert len([*revert_reasons.inner_selectors(b"".join(words))]) == MAX_INNER
    late = bytes(MAX_INNER_BYTES) + words[0]
    assert [*revert_reasons.inner_selectors(late)] == []
    assert [*revert_reasons.inner_selectors(late[32:])] == [words[0][:4]]
