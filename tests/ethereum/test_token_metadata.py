"""What tokens say of themselves, as hostile as it comes."""

import pytest
from eth_abi import encode

from scan.ethereum import token_metadata

pytestmark = pytest.mark.check

WORD = 32


def a_string(value):
    return encode(["string"], [value])


def raw_string(value):
    return encode(["bytes"], [value])


def number(value):
    return value.to_bytes(WORD)


NAMES = [
    (None, ""),
    (b"", ""),
    (a_string(""), ""),
    (a_string("Tether USD"), "Tether USD"),
    (a_string("Münze \U0001f984"), "Münze \U0001f984"),
    (a_string("a\0b\0"), "ab"),
    (a_string("\x00\x01\x1b[31mred\x7f\x85\u2028\n"), "[31mred"),
    (raw_string(b"\xff\xfeok"), "\ufffd\ufffdok"),
    (raw_string(b"\xed\xa0\x80"), "\ufffd\ufffd\ufffd"),
    (raw_string(b"cut \xf0\x9f\xa6"), "cut \ufffd"),
    (a_string(10_000 * "x"), 255 * "x"),
    (a_string(300 * "\U0001f984"), 255 * "\U0001f984"),
    (a_string(10 * "\0" + 300 * "y"), 255 * "y"),
    (b"MKR".ljust(WORD, b"\0"), "MKR"),
    (b"Uniswap V1".ljust(4096, b"\0"), "Uniswap V1"),
    (b"not alone".ljust(WORD, b"\0") + number(1), ""),
    (bytes(WORD), ""),
    (b"\xff".ljust(WORD, b"\0"), "\ufffd"),
    (b"\xff".ljust(WORD, b"\0"), "\ufffd"),
    (number(32) + number(2**255), ""),
    (number(2**256 - 1) + number(1), ""),
    (number(32) + number(5) + b"abc", ""),
    (number(32), " "),
    (b"ab", ""),
    (a_string("<script>alert(1)</script>"), "<script>alert(1)</script>"),
]


@pytest.mark.parametrize(("answer", "text"), NAMES, ids=lambda value: ascii(value)[:25])
def test_names(answer, text):
    assert token_metadata.text(answer, token_metadata.MAX_NAME) == text


def test_symbols_are_cut_to_50():
    assert token_metadata.text(a_string(60 * "S"), token_metadata.MAX_SYMBOL) == 50 * "S"


LONG_TEXTS = [
    (a_string(100_000 * "x"), 255 * "x"),
    (a_string(50_000 * "\0" + 300 * "y"), 255 * "y"),
    (a_string(65_535 * "\0" + "x, and what is past 64 KiB"), "x"),
    (a_string(70_000 * "\0" + "past what is looked at"), ""),
    (a_string("short") + bytes(100_000), "short"),
    (number(32) + number(2**255) + bytes(100_000), ""),
    (number(80_000) + bytes(80_000 - WORD) + number(3) + b"far", "far"),
    (700_000 * b"\xff", ""),
]


@pytest.mark.parametrize(("answer", "text"), LONG_TEXTS, ids=lambda value: ascii(value)[:25])
def test_long_texts_are_cut(answer, text):
    cut = token_metadata.cut_text(answer)
    assert len(cut) <= token_metadata.MAX_TEXT_BYTES + 2 * WORD
    assert token_metadata.text(cut, token_metadata.MAX_NAME) == text


WORDS = [
    (None, None),
    (b"", None),
    (bytes(31), None),
    (number(7), 7),
    (number(2**256 - 1) + b"x", 2**256 - 1),
]


@pytest.mark.parametrize(("answer", "word"), WORDS)
def test_words(answer, word):
    assert token_metadata.word(answer) == word


ADDRESSES = [
    (None, None),
    (bytes(31), None),
    (number(5), (5).to_bytes(20)),
    (number(2**160), None),
    (bytes(12) + 20 * b"\xff" + b"more", 20 * b"\xff"),
]


@pytest.mark.parametrize(("answer", "address"), ADDRESSES)
def test_addresses(answer, address):
    assert token_metadata.address(answer) == address


def answers(**changes):
    """An honest token's, in the order of TOKEN_CALLS."""
    honest = {
        "name": a_string("Token"),
        "symbol": a_string("TOK"),
        "decimals": number(18),
        "supply": number(1000),
        "erc165": None,
        "invalid": None,
        "erc721": None,
        "erc1155": None,
        "balance": number(0),
        "owner": None,
        "approval": None,
        "balance_of_id": None,
    }
    return list((honest | changes).values())


DECIMALS = [(0, 0), (18, 18), (255, 255), (256, None), (2**256 - 1, None)]


@pytest.mark.parametrize(("decimals", "shown"), DECIMALS)
def test_decimals_outside_a_byte_are_none(decimals, shown):
    assert (
        token_metadata.decode_token_metadata(answers(decimals=number(decimals))).decimals == shown
    )


@pytest.mark.parametrize("supply", [None, b"", bytes(31)])
def test_a_missing_supply_is_none(supply):
    assert token_metadata.decode_token_metadata(answers(supply=supply)).total_supply is None


YES, NO, NOISE = number(1), number(0), number(2)


INTERFACES = [
    (YES, NO, YES, NO, "BEP721"),
    (YES, NO, NO, YES, "BEP1155"),
    (YES, NO, YES, YES, None),  # both: the first event has to tell
    (YES, NO, NO, NO, None),
    (YES, YES, YES, YES, None),  # a contract that says yes to everything
    (YES, YES, YES, NO, None),
    (NO, NO, YES, NO, None),
    (None, None, YES, None, None),
    (YES, None, YES, NO, None),
    (NOISE, NO, YES, NO, None),
    (YES, NO, NOISE, YES, "BEP1155"),
]


@pytest.mark.parametrize(("erc165", "invalid", "erc721", "erc1155", "interface"), INTERFACES)
def test_interfaces_are_believed_that_say_one_thing(erc165, invalid, erc721, erc1155, interface):
    responses = answers(erc165=erc165, invalid=invalid, erc721=erc721, erc1155=erc1155)
    assert token_metadata.decode_token_metadata(responses).interface == interface


@pytest.mark.parametrize("missing", ["decimals", "supply", "balance"])
def test_what_wraps_answers_as_a_fungible_token(missing):
    assert token_metadata.decode_token_metadata(answers()).is_fungible
    assert not token_metadata.decode_token_metadata(answers(**{missing: None})).is_fungible


def test_call_data_is_what_the_abi_says():
    assert token_metadata.supports_interface("80ac58cd") == "0x01ffc9a780ac58cd" + 56 * "0"
    assert token_metadata.balance_of(bytes(20)) == "0x70a08231" + 64 * "0"
    tokens = 24 * "0" + 40 * "1", 24 * "0" + 40 * "2"
    parties = bytes.fromhex(40 * "1"), bytes.fromhex(40 * "2")
    assert token_metadata.get_pool("v2", *parties, 0) == "0xe6a43905" + "".join(tokens)
    expected = "0x1698ee82" + "".join(tokens) + f"{3000:064x}"
    assert token_metadata.get_pool("v3", *parties, 3000) == expected
