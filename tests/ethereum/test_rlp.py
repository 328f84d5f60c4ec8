"""RLP that a node or a file gives: lists are split, and nothing else is taken for one."""

import pytest
import rlp

from scan.ethereum.rlp_and_tries import split_list

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("encoded", "items"),
    [
        (rlp.encode([b"\x01", b"two", [b"three"]]), [b"\x01", b"\x83two", b"\xc6\x85three"]),
        (rlp.encode([]), []),
        (rlp.encode([b"\x01", b"\x02", b"\x03", b"\x04"]), []),  # more than three
        (rlp.encode(b"abc"), []),
        (rlp.encode([b"\x01"]) + b"\x02", []),
        (rlp.encode([b"\x01", b"\x02"])[:-1], []),
        (b"", []),
    ],
)
def test_only_a_list_of_at_most_so_many_items_is_split(encoded, items):
    assert split_list(encoded, 3) == items
