"""RLP that a node or a file gives: lists are split, and nothing else is taken for one."""

import pytest
import rlp
from hypothesis import given
from hypothesis import strategies as st

from scan.ethereum.block_encoding import encode_log
from scan.ethereum.blocks import LogJson
from scan.ethereum.encoded_parts import read_transaction
from scan.ethereum.rlp_and_tries import count_items, items_of, split_list

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("encoded", "items"),
    [
        (rlp.encode([b"\x01", b"two", [b"three"]]), [b"\x01", b"\x83two", b"\xc6\x85three"]),
        (rlp.encode([b"\x01", b"\x02", b"\x03", b"\x04"]), []),  # more than three
        (rlp.encode(b"abc"), []),
        (rlp.encode([b"\x01"]) + b"\x02", []),
        (rlp.encode([b"\x01", b"\x02"])[:-1], []),
        (b"", []),
    ],
)
def test_only_a_list_of_at_most_so_many_items_is_split(encoded, items):
    assert split_list(encoded, 3) == items


@given(st.lists(st.binary(max_size=70), max_size=5), st.binary(max_size=70))
def test_items_are_counted_as_they_are_read(strings, hostile):
    def or_refused(read, *arguments):
        """What is read, or None where it is no RLP."""
        try:
            return read(*arguments)
        except ValueError:
            return None

    whole = b"".join(map(rlp.encode, strings))
    assert count_items(whole, 0, len(whole)) == len(strings)
    for encoded in (whole + hostile, hostile):
        span = (encoded, 0, len(encoded))
        items = or_refused(items_of, *span)
        assert or_refused(count_items, *span) == (items if items is None else len(items))


@given(st.lists(st.binary(min_size=32, max_size=32), max_size=4), st.binary(max_size=300))
def test_a_log_is_encoded_as_any_list_is(topics, data):
    texts = ["0x" + topic.hex() for topic in topics]
    for value in (data, data[:1], b"\x7f", b"\x80", b"\0" * 55, b"\0" * 56):
        log = LogJson(topics=texts, address="0x" + "ab" * 20, data="0x" + value.hex())
        assert encode_log(log) == rlp.encode([b"\xab" * 20, topics, value])
    with pytest.raises(ValueError, match="half a byte"):
        encode_log(LogJson(topics=texts, address="0x" + "ab" * 20, data="0x123"))


def test_numbers_of_a_transaction_have_up_to_256_bits():
    fields = [b"\1", b"\2", b"\3", b"\4" * 20, b"\xff" * 32, b"", b"\x1b", b"\5", b"\6"]
    type_, transaction = read_transaction(rlp.encode(fields))
    assert (type_, transaction["value"]) == (0, b"\xff" * 32)
    fields[4] = b"\1" + bytes(32)
    with pytest.raises(ValueError, match="beyond 256 bits"):
        read_transaction(rlp.encode(fields))
