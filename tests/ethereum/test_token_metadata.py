"""What tokens say of themselves, as hostile as it comes."""

import pytest
from eth_abi import encode

from scan.ethereum import token_metadata

pytestmark = pytest.mark.check

WORD = 32


def a_string(value):
    return encode(["string"], [value])


def number(value):
    return value.to_bytes(WORD)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (None, ""),
        (a_string("Tether USD"), "Tether USD"),
        (a_string("Münze \U0001f984"), "Münze \U0001f984"),
        (a_string("\x00\x01\x1b[31mred\x7f\x85\u2028\n"), "[31mred"),
        (encode(["bytes"], [b"\xff\xfeok"]), "\ufffd\ufffdok"),
        (encode(["bytes"], [b"cut \xf0\x9f\xa6"]), "cut \ufffd"),
        (a_string(300 * "\U0001f984"), 255 * "\U0001f984"),
        (b"MKR".ljust(WORD, b"\0"), "MKR"),
        (b"Uniswap V1".ljust(4096, b"\0"), "Uniswap V1"),
        (b"not alone".ljust(WORD, b"\0") + number(1), ""),
        (b"\xff".ljust(WORD, b"\0"), "\ufffd"),
        (number(2**256 - 1) + number(1), ""),
        (number(32) + number(5) + b"abc", ""),
        (number(32), " "),
    ],
    ids=lambda value: ascii(value)[:25],
)
def test_names(answer, text):
    assert token_metadata.text(answer, token_metadata.MAX_NAME) == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (a_string(100_000 * "x"), 255 * "x"),
        (a_string(65_535 * "\0" + "x, and what is past 64 KiB"), "x"),
        (a_string(70_000 * "\0" + "past what is looked at"), ""),
        (a_string("short") + bytes(100_000), "short"),
        (number(80_000) + bytes(80_000 - WORD) + number(3) + b"far", "far"),
    ],
    ids=lambda value: ascii(value)[:25],
)
def test_long_texts_are_cut(answer, text):
    cut = token_metadata.cut_text(answer)
    assert len(cut) <= token_metadata.MAX_TEXT_BYTES + 2 * WORD
    assert token_metadata.text(cut, token_metadata.MAX_NAME) == text


@pytest.mark.parametrize(
    ("answer", "word", "address"),
    [
        (None, None, None),
        (bytes(31), None, None),
        (number(2**160), 2**160, None),
        (number(2**160 - 1) + b"more", 2**160 - 1, 20 * b"\xff"),
    ],
)
def test_words_and_addresses(answer, word, address):
    assert token_metadata.word(answer) == word
    assert token_metadata.address(answer) == address


def answers(**changes):
    """An honest token's, in the order of TOKEN_CALLS."""
    names = "name symbol decimals supply erc165 invalid erc721 erc1155 balance owner approval of_id"
    honest = dict.fromkeys(names.split())
    honest |= {"name": a_string("Token"), "symbol": a_string("TOK"), "decimals": number(18)}
    return list((honest | {"supply": number(1000), "balance": number(0)} | changes).values())


def test_decimals_outside_a_byte_and_missing_supplies_are_none():
    for decimals, expected in ((255, 255), (256, None)):
        responses = answers(decimals=number(decimals), supply=bytes(31))
        metadata = token_metadata.decode_token_metadata(responses)
        assert (metadata.decimals, metadata.total_supply) == (expected, None)


YES, NO, NOISE = number(1), number(0), number(2)


@pytest.mark.parametrize(
    ("erc165", "invalid", "erc721", "erc1155", "interface"),
    [
        (YES, NO, YES, NO, "BEP721"),
        (YES, NO, NOISE, YES, "BEP1155"),
        (YES, NO, YES, YES, None),  # both: the first event has to tell
        (YES, NO, NO, NO, None),
        (YES, YES, YES, NO, None),  # a contract that says yes to everything
        (NO, NO, YES, NO, None),
        (YES, None, YES, NO, None),
        (NOISE, NO, YES, NO, None),
    ],
)
def test_interfaces_are_believed_that_say_one_thing(erc165, invalid, erc721, erc1155, interface):
    responses = answers(erc165=erc165, invalid=invalid, erc721=erc721, erc1155=erc1155)
    assert token_metadata.decode_token_metadata(responses).interface == interface


@pytest.mark.parametrize("missing", ["decimals", "supply", "balance"])
def test_what_wraps_answers_as_a_fungible_token(missing):
    assert token_metadata.decode_token_metadata(answers()).is_fungible
    assert not token_metadata.decode_token_metadata(answers(**{missing: None})).is_fungible
