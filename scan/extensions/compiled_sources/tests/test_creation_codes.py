"""Creation code that is found again in front of constructor arguments, whatever bytes these are."""

import random

import orjson
import pytest

from scan.extensions.compiled_sources import creation_codes
from scan.verification.bytecode_comparison import ByteRange, LinkedCode

pytestmark = pytest.mark.check

HASH = b"dipfsX\x22\x12\x20"
LINKED = bytes.fromhex(f"6001 73{'00' * 20} 7f{'73' * 32} 00") + HASH + b"\x01" * 32


def code_of(code, *links):
    stored = creation_codes.creation_code_of(LinkedCode(code, {"a.sol:Maths": links}, {}))
    assert stored is not None
    return stored


def is_searched_by(stored, creation):
    return creation_codes.search_hashes(creation).get(stored.search_hash) == stored.size


@pytest.mark.parametrize("words", [0, 1, 7, creation_codes.MAX_ARGUMENT_BYTES // 32])
@pytest.mark.parametrize("seed", range(20))
def test_code_is_found_in_front_of_arguments(seed, words):
    chosen = random.Random(seed)
    code = bytes(chosen.choices([0x73, 0x60, 0x7F, 0x00, 0x01, 0x64], k=chosen.randrange(1, 400)))
    code += chosen.choice([b"", HASH, HASH + chosen.randbytes(20), HASH + chosen.randbytes(40)])
    stored, creation = code_of(code), code + chosen.randbytes(32 * words)
    assert is_searched_by(stored, creation)
    assert stored.is_in(creation)


def test_libraries_and_metadata_may_differ_and_nothing_else():
    stored = code_of(LINKED, ByteRange(3, 23))
    linked = LINKED[:3] + b"\x22" * 20 + LINKED[23:-32] + b"\x44" * 32
    assert is_searched_by(stored, linked)
    assert stored.is_in(linked)
    changed = bytearray(linked)
    changed[30] ^= 1  # an operand of PUSH32
    assert not is_searched_by(stored, bytes(changed))
    assert not stored.is_in(bytes(changed))


def test_a_constant_address_is_no_library():
    stored = code_of(LINKED)
    other = LINKED[:3] + b"\x22" * 20 + LINKED[23:]
    assert is_searched_by(stored, other)
    assert not stored.is_in(other)
    assert not stored.is_in(LINKED[:-1])


def test_arguments_are_whole_words_and_bounded():
    stored = code_of(b"\x01" * 50)
    assert not is_searched_by(stored, b"\x01" * 50 + bytes(31))
    assert not is_searched_by(stored, b"\x01" * 50 + bytes(creation_codes.MAX_ARGUMENT_BYTES + 32))


def test_too_large_a_creation_is_not_searched():
    most = creation_codes.MAX_CODE_BYTES + creation_codes.MAX_ARGUMENT_BYTES
    assert creation_codes.search_hashes(bytes(most + 1)) == {}


def test_what_a_compiler_does_not_give_is_not_kept():
    for size, places in (
        (0, ()),
        (creation_codes.MAX_CODE_BYTES + 1, ()),
        (30, (ByteRange(20, 40),)),
        (30, (ByteRange(-5, 15),)),
        (30, (ByteRange(0, 20),) * 2000),
    ):
        code = LinkedCode(bytes(size), {"a": places}, {})
        assert creation_codes.creation_code_of(code) is None, (size, places[:1])


@pytest.mark.parametrize(
    "repeated", [b"\x73", b"\x60", b"\x7f", b"\x00", HASH, b"d", b"\x73" + HASH]
)
def test_hostile_code_is_read_in_one_pass(repeated):
    """Otherwise one of these takes hours, and the test does not end."""
    code = (repeated * creation_codes.MAX_CODE_BYTES)[: creation_codes.MAX_CODE_BYTES]
    assert is_searched_by(code_of(code), code + bytes(64))


def test_creations_are_compared_as_often_as_codes_differ():
    """A thousand contracts may have one search hash: of equal places, one hash does for all."""

    def is_in(comparison, creation, stored):
        links = orjson.dumps([[*link] for link in stored.links]).decode()
        return comparison.is_in(creation, stored.size, stored.masked_hash, links)

    plain = LINKED + bytes(creation_codes.MAX_CODE_BYTES - len(LINKED))
    creation = plain[:3] + b"\x22" * 20 + plain[23:]
    linked, constant = code_of(plain, ByteRange(3, 23)), code_of(plain)
    comparison = creation_codes.CreationComparison()
    other = linked._replace(masked_hash=bytes(32))
    compared = [is_in(comparison, creation, code) for code in [other] * 1000 + [linked, constant]]
    assert compared == [False] * 1000 + [True, False]
    most = creation_codes.MAX_COMPARED_BYTES // len(creation)
    elsewhere = [other._replace(links=(ByteRange(n, n + 20),)) for n in range(100, 98 + most)]
    assert not any(is_in(comparison, creation, code) for code in elsewhere)
    # No further one, whatever it is.
    assert not is_in(comparison, plain, constant)
    assert is_in(creation_codes.CreationComparison(), plain, constant)
    assert is_in(comparison, creation, linked)
