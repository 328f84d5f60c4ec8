"""The rules of matching, byte by byte."""

import tracemalloc

import cbor2
import pytest

from scan.errors import VerificationFailed
from scan.verification.bytecode_comparison import (
    ByteRange,
    LinkedCode,
    compare_runtime,
    masked_hash,
    moved_auxdata,
    pattern_of,
    uses_push0,
)
from scan.verification.bytecode_metadata import compiler_version, hash_kind, read_metadata
from scan.verification.creation_comparison import DeployedCode, compare_creation
from scan.verification.submission_compilations import CompiledContract

pytestmark = pytest.mark.check

CODE = bytes.fromhex("6080604052600080fd") + bytes(range(40))


def auxdata(filling=170, version=b"\x00\x08\x1a"):
    cbor = b"\xa2dipfsX\x22\x12\x20" + bytes([filling]) * 32 + b"dsolcC" + version
    return cbor + len(cbor).to_bytes(2, "big")


def plain(code):
    return LinkedCode(code, {}, {})


def compare(deployed, compiled, **libraries):
    if isinstance(compiled, bytes):
        compiled = plain(compiled)
    return compare_runtime(deployed, compiled, libraries)


BARE = b"\xa1dsolcC\0\x08\x1a\0\x0a"  # metadata without a hash


@pytest.mark.parametrize(
    ("deployed", "compiled", "match", "reason"),
    [
        (CODE + auxdata(), CODE + auxdata(), "full", ""),
        (CODE, CODE, "partial", ""),
        (CODE + BARE, CODE + BARE, "partial", ""),
        (CODE + auxdata(1), CODE + auxdata(2), "partial", ""),
        (CODE + auxdata(1, b"\0\x08\x11"), CODE + auxdata(1), "partial", ""),
        (
            (CODE[:20] + b"\xff" + CODE[21:]) + auxdata(),
            CODE + auxdata(),
            None,
            "first at offset 20",
        ),
        (CODE + b"\0" + auxdata(), CODE + auxdata(), None, str(len(CODE + auxdata()))),
        (CODE + b"\x5b" * len(auxdata()), CODE + auxdata(), None, ""),
    ],
)
def test_code_matches_but_for_its_metadata(deployed, compiled, match, reason):
    comparison = compare(deployed, compiled)
    assert comparison.match == match
    assert reason in (comparison.reason or "")
    assert not comparison.inner_metadata


def test_metadata_planted_within_the_code_is_not_masked():
    """What looks like metadata in the source's own data is code as any other."""
    planted, other = CODE + auxdata(1) + CODE, CODE + auxdata(2) + CODE
    comparison = compare(other + auxdata(3), planted + auxdata(3))
    assert comparison.match is None
    assert comparison.inner_metadata
    # The compiler says that nothing but the tail moved when a space was added to the source.
    ranges = moved_auxdata(planted + auxdata(3), [auxdata(3)], planted + auxdata(4))
    assert ranges == [ByteRange(len(planted), len(planted + auxdata(3)))]
    again = compare_runtime(other + auxdata(3), plain(planted + auxdata(3)), {}, ranges)
    assert again.match is None


def test_metadata_of_embedded_contracts_is_masked_where_the_compiler_moved_it():
    compiled = CODE + auxdata(1) + CODE + auxdata(2)
    deployed = CODE + auxdata(3) + CODE + auxdata(4)
    assert compare(deployed, compiled).inner_metadata
    with_spaces = CODE + auxdata(5) + CODE + auxdata(6)
    moved = moved_auxdata(compiled, [auxdata(1), auxdata(2)], with_spaces)
    assert compare_runtime(deployed, plain(compiled), {}, moved).match == "partial"
    broken = CODE + auxdata(3) + b"\xff" + CODE[1:] + auxdata(4)
    assert compare_runtime(broken, plain(compiled), {}, moved).match is None


def test_a_constant_spelt_like_an_embedded_contract_s_metadata_is_not_masked():
    """The embedded contract's auxdata is known before its parent is written."""
    compiled = CODE + auxdata(1) + CODE + auxdata(1) + auxdata(2)
    with_spaces = CODE + auxdata(1) + CODE + auxdata(5) + auxdata(6)
    moved = moved_auxdata(compiled, [auxdata(1), auxdata(2)], with_spaces)
    honest = CODE + auxdata(1) + CODE + auxdata(3) + auxdata(4)
    assert compare_runtime(honest, plain(compiled), {}, moved).match == "partial"
    forged = CODE + auxdata(9) + CODE + auxdata(3) + auxdata(4)
    assert compare_runtime(forged, plain(compiled), {}, moved).match is None


def test_immutables_are_taken_from_the_chain_but_alike_everywhere():
    ranges = {"7": (ByteRange(10, 42), ByteRange(50, 82))}
    compiled = LinkedCode(bytes(90) + auxdata(), {}, ranges)
    value = b"\x11" * 32
    alike = bytes(10) + value + bytes(8) + value + bytes(8) + auxdata()
    assert compare(alike, compiled).match == "full"
    unlike = bytes(10) + value + bytes(8) + b"\x22" * 32 + bytes(8) + auxdata()
    assert "immutable" in compare(unlike, compiled).reason


def test_a_library_s_call_guard_holds_its_own_address():
    body = bytes.fromhex("3014") + CODE + auxdata()
    deployed = b"\x73" + b"\x42" * 20 + body
    assert compare(deployed, b"\x73" + bytes(20) + body).match == "full"
    assert compare(deployed, b"\x73" + b"\x41" + bytes(19) + body).match is None


def test_metadata_of_creation_code_is_that_of_the_source_or_of_the_runtime_code():
    creation = plain(CODE + auxdata())
    tail = moved_auxdata(creation.code, (), b"")

    def compared(code, ranges=tail, runtime=b""):
        return compare_creation(DeployedCode(runtime, code), creation, {}, ranges, [])

    assert compared(CODE + auxdata()).match == "full"
    other = CODE + auxdata(1)
    assert compared(other, ()).is_same is False
    assert (compared(other).match, compared(other, runtime=auxdata(1)).match) == ("partial", "full")


def test_a_library_of_the_constructor_alone_is_read_from_the_creation_code():
    links = {"lib.sol:Maths": (ByteRange(0, 20), ByteRange(30, 50))}
    compiled = LinkedCode(bytes(60), links, {})
    library = b"\x42" * 20
    deployed = library + bytes(10) + library + bytes(10)

    def compared(code, **libraries):
        return compare_creation(DeployedCode(b"", code), compiled, libraries, (), []).is_same

    assert compared(deployed) and compared(deployed, Maths=library)
    assert compared(deployed, Maths=bytes(20)) is False
    assert compared(library + bytes(10) + b"\x43" * 20 + bytes(10)) is False


@pytest.mark.parametrize(
    "item",
    [
        *(
            bytes([major << 5 | 27]) + length.to_bytes(8, "big") + bytes(8)
            for major in (2, 3, 4, 5)
            for length in (2**63, 2**63 - 1, 2**40)
        ),
        b"\x81" * 65_000 + b"\0",
        *(
            b"\xa1dsolc" + tagged
            for tagged in (
                b"\xc2C\0\x08\x1a",  # a large number
                b"\xc4\x82\x1b\x7f" + b"\xff" * 7 + b"\x01",  # with an exponent
                b"\xd8\x23d(a+)",  # a pattern
                b"\xd9\x01\x02\x80",  # a set
                b"\xdb" + b"\xff" * 8 + b"C\0\x08\x1a",
            )
        ),
        b"\xa1dsolc\xf6",
        b"\xa1dsolc\xf9\x3c\0",
        b"\xa1dsolcb\xff\xff",
        b"\xa2dsolcC\0\x08\x1adsolcC\0\x08\x1a",  # one key twice
        b"\xbfdsolcC\0\x08\x1a\xff",
        b"\xa1dsolcX\x03\0\x08\x1a",  # a length in two bytes that fits into one
        b"\xa1evyper\x83\x20\0\0",
    ],
)
def test_what_no_compiler_writes_is_no_metadata_and_allocates_nothing(item):
    tracemalloc.start()
    try:
        measured = (len(item) + 2).to_bytes(2, "big"), len(item).to_bytes(2, "big")
        assert [read_metadata(CODE + item + length) for length in measured] == [None, None]
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("code", [b"", CODE, CODE + auxdata()[:-2] + b"\0\x01"])
def test_bytes_that_are_no_metadata_are_not_taken_for_it(code):
    assert read_metadata(code) is None


@pytest.mark.parametrize(
    ("size", "is_metadata"),
    [(0, True), (0xFFFF, True), (1 << 16, False), (-1, False), (True, False)],
)
def test_sizes_of_vypers_metadata_are_of_two_bytes(size, is_metadata):
    for sizes in ([size, [], 0], [0, [size], 0], [0, [], size]):
        item = cbor2.dumps([*sizes, {"vyper": [0, 3, 10]}])
        metadata = read_metadata(CODE + item + (len(item) + 2).to_bytes(2, "big"))
        assert (metadata is not None) is is_metadata


def test_metadata_names_the_compiler_and_the_kind_of_hash():
    tail = read_metadata(CODE + auxdata())
    assert (compiler_version(tail), hash_kind(tail)) == ("0.8.26", "ipfs")
    assert hash_kind(read_metadata(CODE + (b"\xa1ebzzr0X\x20" + bytes(32) + b"\0\x29"))) == "bzzr0"
    for unreleased, version in (
        (b"\xa1dsolcx\x1a0.8.26-nightly.2024.5.1+cm", "0.8.26"),
        (b"\xa1dsolct0.8.5-develop.2021.6", "0.8.5"),
        (b"\xa2lexperimental\xf4dsolcC\0\x08\x05", "0.8.5"),
    ):
        tail = read_metadata(CODE + unreleased + len(unreleased).to_bytes(2, "big"))
        assert compiler_version(tail) == version
    assert (compiler_version(None), hash_kind(None)) == (None, None)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("5f80fd", True),
        ("605f80fd", False),
        ("7f" + "5f" * 32 + "00", False),
        ("e6", False),  # its operand is beyond the end
        ("600056 5b5f80fd", True),  # after a jump, where another may arrive
        ("6000 80fd fe 5f80fd", False),  # an embedded contract
        ("6000 56 5b 00 fe 305f5f", False),  # data
        ("", False),
    ],
)
def test_push0_is_distinguished_from_data(code, expected):
    assert uses_push0(bytes.fromhex(code)) is expected


def test_a_library_elsewhere_has_similar_code_and_a_contract_with_that_address_has_not():
    """A library has its own address where the compiler wrote zeros; no other code may vary so."""
    here, elsewhere = (b"\x73" + bytes([n]) * 20 + b"\x30\x14" + CODE for n in (1, 2))
    library = plain(b"\x73" + bytes(20) + b"\x30\x14" + CODE)
    for compiled, is_similar in ((library, True), (plain(here), False)):
        pattern = pattern_of(here, compiled)
        assert (masked_hash(elsewhere, pattern.variable) == pattern.masked_hash) is is_similar


@pytest.mark.parametrize(("depth", "name", "reason"), [(400, "a", "deep"), (1, "a" * 2**20, "ABI")])
def test_an_abi_that_is_nested_too_deep_or_too_large_is_refused(depth, name, reason):
    """200 structures in each other compile, and an event of few has any number of members."""
    abi = [{"type": "event", "name": name}]
    for _ in range(depth):
        abi = [abi]
    compiled = CompiledContract("A.sol", "A", {"abi": abi}, LinkedCode(b"", {}, {}))
    with pytest.raises(VerificationFailed, match=reason):
        compiled.abi_json()
