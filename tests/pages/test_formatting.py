"""Values as people read them."""

from decimal import Decimal

import pytest

from scan.contracts.abi_decoding import Argument
from scan.pages import formatting, site
from scan.pages.argument_values import ShownValue, shown_value
from scan.pages.formatting import short_price
from scan.queries.network import name_of, token_standard

pytestmark = pytest.mark.check


@pytest.mark.parametrize(
    ("value", "decimals", "whole", "short"),
    [
        ("0", 18, "0", "0"),
        ("1", 18, "0.000000000000000001", "0.000000000000000001"),
        ("1000000000000000000", 18, "1", "1"),
        ("1234567890123456789012", 18, "1,234.567890123456789012", "1,234.56…"),
        ("999999999999999999", 18, "0.999999999999999999", "0.999999…"),
        ("123456789", 9, "0.123456789", "0.123456…"),
        ("12", 0, "12", "12"),
        (str(2**256 - 1), 0, f"{2**256 - 1:,}", f"{2**256 - 1:,}"),
        ("7", 255, "0." + "0" * 254 + "7", "0." + "0" * 254 + "7"),
        ("-15", 1, "-1.5", "-1.5"),
    ],
)
def test_amounts_are_exact_and_never_rounded_up(
    value: str, decimals: int, whole: str, short: str
) -> None:
    assert formatting.amount(value, decimals) == whole
    assert formatting.short_amount(value, decimals) == short


@pytest.mark.parametrize(
    ("value", "decimals", "shown"),
    [
        ("0", 18, ("0", "", None)),
        ("1500000000000000000", 18, ("1", ".5", None)),
        ("1234567890123456789012", 18, ("1,234", ".567890…", "1,234.567890123456789012")),
        ("123456789012", 6, ("123,456", ".78…", "123,456.789012")),
        ("34489000241423", 18, ("0", ".00003448…", "0.000034489000241423")),
        ("1", 18, ("<0", ".00000001", "0.000000000000000001")),
        ("9" * 21, 0, (",".join(["999"] * 7), "", None)),
        (str(2**256 - 1), 0, ("1", ".157…·10⁷⁷", f"{2**256 - 1:,}")),
        ("7", 255, ("<0", ".00000001", "0." + "0" * 254 + "7")),
    ],
)
def test_amounts_in_columns_are_truncated_and_say_so(
    value: str, decimals: int, shown: tuple[str, str, str | None]
) -> None:
    assert formatting.aligned(value, decimals) == shown


@pytest.mark.parametrize(
    ("wei", "shown"),
    [
        ("1000000007", ("1", "", "1.000000007")),
        ("1000000000", ("1", "", None)),
        ("12345678901", ("12", ".346", "12.345678901")),
        ("999999999999", ("1,000", "", "999.999999999")),
        ("7", ("0", ".000000007", None)),
        ("0", ("0", "", None)),
    ],
)
def test_gas_prices_are_rounded_and_say_so(wei: str, shown: tuple[str, str, str | None]) -> None:
    assert formatting.aligned_gwei(wei) == shown


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        (0, 7, "0 %"),
        (1, 10**6, "<0.1 %"),
        (1, 3, "33.3 %"),
        (21_000, 21_000, "100 %"),
        (29_999_999, 30_000_000, ">99.9 %"),
        (5, 10, "50.0 %"),
    ],
)
def test_only_nothing_is_0_percent_and_all_100(part: int, whole: int, shown: str) -> None:
    assert formatting.percent(part, whole) == shown


def test_bytes_are_text_where_they_are_readable() -> None:
    assert formatting.text_in("Grüße\n\u202eto you".encode()) == "Grüße\n\u202eto you"
    assert formatting.text_in(b"a" * 30_000) == "a" * formatting.MAX_TEXT + "…"
    for content in (b"", b" \n", b"\0abc", b"\xa9\x05\x9c\xbb", b"\x1b[31mred"):
        assert formatting.text_in(content) is None
    assert formatting.visible_block("a\n\u202eb") == "a\n[U+202E]b"


def argument(type_: str, value: object, name: str = "") -> Argument:
    return Argument(name, type_, value)


COIN = {"type": "BEP20", "decimals": 6}


@pytest.mark.parametrize(
    ("shown", "text", "raw"),
    [
        (
            shown_value(argument("uint256", "1500000"), 1, "transfer(address,uint256)", COIN),
            "1.5",
            "1500000",
        ),
        (
            shown_value(argument("uint256", "1500000"), 1, "transfer(address,uint256)"),
            "1,500,000",
            "1500000",
        ),
        (
            shown_value(
                argument("uint256", "1500000"),
                1,
                "transfer(address,uint256)",
                {**COIN, "type": "BEP721"},
            ),
            "1,500,000",
            "1500000",
        ),
        (
            shown_value(argument("uint256", "1500000"), 0, "stake(uint256)", COIN),
            "1,500,000",
            "1500000",
        ),
        (
            shown_value(argument("uint256", "5"), 0, "totalSupply()", COIN, is_result=True),
            "0.000005",
            "5",
        ),
        (
            shown_value(argument("uint256", str(2**256 - 1)), 1, "approve(address,uint256)", COIN),
            "unlimited",
            str(2**256 - 1),
        ),
        (
            shown_value(argument("uint160", str(2**160 - 1)), 1, "f(uint160)"),
            "largest uint160",
            str(2**160 - 1),
        ),
        (shown_value(argument("uint8", "255"), 0), "255", None),
        (shown_value(argument("int256", "-1234567"), 0), "-1,234,567", "-1234567"),
        (
            shown_value(argument("uint256", "1700000000", "_deadline"), 0),
            "2023-11-14 22:13:20 UTC",
            "1700000000",
        ),
        (
            shown_value(argument("uint48", "1700000000", "expiration"), 0),
            "2023-11-14 22:13:20 UTC",
            "1700000000",
        ),
        (shown_value(argument("uint256", "17", "deadline"), 0), "17", None),
        (
            shown_value(argument("uint256", "1700000000", "amount"), 0),
            "1,700,000,000",
            "1700000000",
        ),
        (shown_value(argument("uint256", "1234567", "tokenId"), 0), "1234567", None),
        (shown_value(argument("uint256", str(10**60), "x"), 0), str(10**60), None),
        (shown_value(argument("string", "12345678"), 0), "12345678", None),
        (shown_value(argument("uint256[]", ["12345678"]), 0), '["12345678"]', None),
        (
            shown_value(
                argument("uint256", "7"), 1, "transfer(address,uint256)", {**COIN, "decimals": 255}
            ),
            "0." + "0" * 254 + "7",
            "7",
        ),
    ],
)
def test_decoded_numbers_are_shown_in_units(shown: ShownValue, text: str, raw: str | None) -> None:
    assert (shown.text, shown.raw) == (text, raw)


def test_addresses_have_the_checksums_of_the_standard() -> None:
    """The first four are those of EIP-55."""
    for address in (
        "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
        "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
        "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
        f"0x{'0' * 40}",
    ):
        assert formatting.checksummed(address.lower()) == address


def test_an_address_in_a_sentence_has_its_checksum() -> None:
    address = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
    text = "“0x” (0x5aaeb6…eaed)"
    assert formatting.with_checksum(text, address) == "“0x” (0x5aAeb6…eAed)"
    assert formatting.with_checksum("0x5aaeb6 Bank", address) == "0x5aaeb6 Bank"


@pytest.mark.parametrize("text", [" ", "\u3164", "\u2800 \u00a0", "\uffa0\u115f"])
def test_names_without_ink_have_words(text: str) -> None:
    assert formatting.short_name(text) == "(blank)"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Wrapped Ether", "Wrapped Ether"),
        ("évasion 中文 עברית", "évasion 中文 עברית"),
        ("a\u202eb", "a[U+202E]b"),
        ("\u2066\u2069\u200b\ufeff", "[U+2066][U+2069][U+200B][U+FEFF]"),
        ("a\nb\x00", "a[U+000A]b[U+0000]"),
    ],
)
def test_characters_that_hide_or_reorder_are_written_out(text: str, shown: str) -> None:
    assert formatting.visible(text) == shown


def test_source_keeps_its_lines_and_tabs() -> None:
    assert formatting.visible_lines("a\r\n\tb\u202e\nc") == ["a", "\tb[U+202E]", "c"]


@pytest.mark.parametrize(
    ("part", "whole", "shown"),
    [
        ("1", "3", "33.33 %"),
        ("2", "3", "66.67 %"),
        ("63805", "100000", "63.81 %"),
        ("5", "5", "100 %"),
        ("99999", "100000", ">99.99 %"),
        ("6", "5", "120.00 %"),
        ("1", "0", ""),
        ("0", "9", "0 %"),
        ("1", "10001", "0.01 %"),
        ("1", "20001", "<0.01 %"),
    ],
)
def test_shares_are_rounded_by_the_same_rule(part: str, whole: str, shown: str) -> None:
    assert formatting.percent(part, whole, 2) == shown


@pytest.mark.parametrize(
    ("number", "noun", "shown"),
    [
        (1, "transfer", "1 transfer"),
        ("1", "entry", "1 entry"),
        (0, "entry", "0 entries"),
        (2001, "address", "2,001 addresses"),
        (2, "day", "2 days"),
    ],
)
def test_a_number_has_its_noun_in_the_right_form(number: int | str, noun: str, shown: str) -> None:
    assert formatting.counted(number, noun) == shown


@pytest.mark.parametrize(
    ("price", "shown"),
    [
        ("1.23456789", "1.23457"),
        ("1500", "1500"),
        ("0", "0"),
        ("0.00000123456789", "0.00000123457"),
        ("1" + 332 * "0", "1e+332"),
        ("0." + 330 * "0" + "12", "1.2e-331"),
    ],
)
def test_prices_are_short(price: str, shown: str) -> None:
    assert short_price(Decimal(price)) == shown


@pytest.mark.parametrize(
    ("value", "decimals", "price", "shown"),
    [
        ("0", 18, "3000", "0.00"),
        ("1", 18, "3000", "<0.01"),
        ("1500000000000000000", 18, "3000.25", "4,500.38"),
        ("12345678901", 2, "1", "123,456,789.01"),
        (str(2**256 - 1), 0, "9" * 20, "1.16e+97"),
        ("1", 255, "1", "<0.01"),
        ("5", 0, "0", "0.00"),
    ],
)
def test_what_amounts_are_worth(value: str, decimals: int, price: str, shown: str) -> None:
    assert formatting.worth(value, decimals, Decimal(price)) == shown


@pytest.mark.parametrize(
    ("name", "symbol", "shown"),
    [
        ("Meridian Dollar", "MUSD", "Meridian Dollar"),
        ("", "MUSD", "MUSD"),
        ("\u200b \u2800\u3164", "\u202e", "Unnamed token 0x121212…1212"),
    ],
)
def test_a_token_is_shown_by_words(name: str, symbol: str, shown: str) -> None:
    token = {"name": name, "symbol": symbol, "address": "0x" + "12" * 20}
    assert formatting.token_name(token) == shown


def test_chains_have_their_usual_names_unless_the_operator_names_them() -> None:
    assert name_of("56", "") == "BNB Smart Chain"
    assert name_of("31337", "") == "Chain 31337"
    assert name_of("56", "Harbor") == name_of("31337", "Harbor") == "Harbor"


def test_standards_have_the_names_of_their_chain() -> None:
    assert token_standard("BEP20", "56") == "BEP-20"
    assert token_standard("BEP20", "1") == token_standard("BEP20", None) == "ERC-20"
    assert token_standard("BEP1155", "1") == "ERC-1155"


def test_sentences_have_addresses_with_checksums() -> None:
    lower = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
    text = formatting.sentence(f"{lower} has no code; {lower}00 is none, \u202e neither")
    assert text.startswith("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed has no code;")
    assert f"{lower}00" in text and "\u202e" not in text


def test_an_item_is_no_link_where_there_are_no_pages_of_items(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    templates = site._templates()
    macro = templates.get_template("macros.html").module.item  # type: ignore[attr-defined]
    assert 'href="/nft/0xaa/7"' in macro("0xaa", "7")
    monkeypatch.setitem(templates.globals, "has_page", lambda path: False)
    macro = templates.get_template("macros.html").make_module().item  # type: ignore[attr-defined]
    assert macro("0xaa", "7") == '<span title="7">7</span>'
