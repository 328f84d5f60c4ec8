"""Values as people read them."""

import pytest

from scan.pages import formatting


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
    [("1", "3", "33.33 %"), ("5", "5", "100.00 %"), ("1", "0", ""), ("0", "9", "0.00 %")],
)
def test_shares_are_rounded_down(part: str, whole: str, shown: str) -> None:
    assert formatting.share(part, whole) == shown
