"""Values as people read them."""

import re
from decimal import Decimal

import pytest

from scan.pages import cells, formatting
from scan.pages.formatting import percent, resembles_another, short_price, worth
from scan.queries.holdings import exact_worth
from scan.queries.network import name_of
from scan.queries.tokens import token_standard

pytestmark = pytest.mark.check

LARGEST = 2**256 - 1
TINY = "0." + "0" * 254 + "7"


@pytest.mark.parametrize(
    ("value", "decimals", "whole", "short"),
    [
        ("0", 18, "0", "0"),
        ("1", 18, "0.000000000000000001", "0.000000000000000001"),
        ("1000000000000000000", 18, "1", "1"),
        ("1234567890123456789012", 18, "1,234.567890123456789012", "1,234.56…"),
        (str(LARGEST), 0, f"{LARGEST:,}", "1.157…·10⁷⁷"),
        (f"-{LARGEST}", 0, f"-{LARGEST:,}", "-1.157…·10⁷⁷"),
        (str(10**40), 18, f"{10**22:,}", "1·10²²"),
        ("7", 255, TINY, "7·10⁻²⁵⁵"),
        ("-15", 1, "-1.5", "-1.5"),
    ],
)
def test_amounts_are_exact_and_never_rounded_up(value, decimals, whole, short):
    assert formatting.amount(value, decimals) == whole
    assert formatting.short_amount(value, decimals) == short


LOWER = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed"
UNNAMED = {"name": "\u200b \u2800\u3164", "symbol": "\u202e", "address": "0x" + "12" * 20}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        # Amounts in columns are truncated and say so.
        (formatting.aligned("1500000000000000000", 18), ("1", ".5", None)),
        (formatting.aligned("1234567890123456789012", 18),
         ("1,234", ".567890…", "1,234.567890123456789012")),
        (formatting.aligned("1", 18), ("<0", ".000001", "0.000000000000000001")),
        (formatting.aligned(str(LARGEST), 0), ("1", ".157…·10⁷⁷", f"{LARGEST:,}")),
        (formatting.aligned("7", 255), ("<0", ".000001", TINY)),
        # Exchanges as they write themselves; others as they are.
        (formatting.exchange_name("<b>-v2"), "<b>-v2"),
        # Fees have more digits after the point.
        (formatting.aligned("1178491692000", 18, 8),
         ("0", ".00000117…", "0.000001178491692")),
        # Gas prices are cut.
        (formatting.aligned_gwei("1000000007"), ("1", ".000…", "1.000000007")),
        # Numbers of an axis have at most three digits after the point.
        (formatting.compact(999), "999"), (formatting.compact(1000), "1K"),
        (formatting.compact(999_999_999_999), "999.999B"), (formatting.compact(10**12), "1T"),
        (formatting.compact(12 * 10**76), "1.2·10⁷⁷"),
        # A sentence of the API has powers of ten as computers write them.
        (formatting.powers("1.15e59 W"), "1.15·10⁵⁹ W"),
        # Only nothing is 0 per cent, and all 100.
        (percent(0, 7), "0 %"), (percent(1, 10**6), "<0.1 %"), (percent(1, 3), "33.3 %"),
        (percent(21_000, 21_000), "100 %"), (percent(29_999_999, 30_000_000), ">99.9 %"),
        (percent("6", "5", 2), "120.00 %"), (percent("1", "0", 2), ""),
        # A number has its noun in the right form.
        (formatting.counted(0, "entry"), "0 entries"),
        # Prices are short, and so is what amounts are worth.
        (short_price(Decimal("1.23456789")), "1.23457"), (short_price(Decimal("1500")), "1,500"),
        (formatting.short_addresses(f"NotAllowed(who={LOWER}, code=7)"),
         "NotAllowed(who=0x5aAeb6…eAed, code=7)"),
        (formatting.short_id("1" * 20), "1" * 20),
        (formatting.short_id("1" * 21), "11111111…11111111"),
        (worth(exact_worth("1", 18, Decimal(3000))), "<0.01"),
        (worth(exact_worth("1500000000000000000", 18, Decimal("3000.25"))), "4,500.38"),
        (worth(exact_worth(str(LARGEST), 0, Decimal("9" * 20))), "1.16·10⁹⁷"),
        # Characters that hide or reorder are written out; a source keeps its lines and tabs.
        (formatting.visible("évasion 中文 עברית"), "évasion 中文 עברית"),
        (formatting.visible("a\U000e0141\u17b4b"), "a[U+E0141][U+17B4]b"),
        (formatting.visible("\u2764\ufe0f\u180b"), "\u2764[U+180B]"),
        (formatting.visible_lines("a\r\n\tb\u202e\nc"), ["a", "\tb[U+202E]", "c"]),
        # Names without ink have words, and a token is shown by words.
        *((formatting.short_name(text), "(blank)")
          for text in (" ", "\u3164", "\u2800 \u00a0", "\uffa0\u115f")),
        (formatting.token_name(UNNAMED | {"name": "Meridian Dollar", "symbol": "MUSD"}),
         "Meridian Dollar"),
        (formatting.token_name(UNNAMED), "Unnamed token 0x121212…1212"),
        # Bytes are text where they are readable.
        (formatting.text_in(b"a" * 30_000), "a" * formatting.MAX_TEXT + "…"),
        *((formatting.text_in(content), None)
          for content in (b"", b" \n", b"\0abc", b"\xa9\x05\x9c\xbb", b"\x1b[31mred")),
        # Addresses in sentences have their checksums (the first two are those of EIP-55).
        *((formatting.checksummed(address.lower()), address)
          for address in (
              "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
              "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359", f"0x{'0' * 40}",
          )),
        (formatting.checksummed_text("“0x” (0x5aaeb6…eaed)", LOWER), "“0x” (0x5aAeb6…eAed)"),
        (formatting.sentence(f"{LOWER} has none; {LOWER}00 \u202e"),
         f"0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed has none; {LOWER}00 [U+202E]"),
        # Chains and standards have their usual names unless the operator names them.
        (name_of("56", ""), "BNB Smart Chain"), (name_of("31337", ""), "Chain 31337"),
        (token_standard("BEP20", "1"), "ERC-20"), (token_standard("BEP20", None), "ERC-20"),
        (token_standard("BEP1155", "1"), "ERC-1155"),
    ],
)  # fmt: skip
def test_values_are_shown_in_words(shown, expected):
    assert shown == expected


@pytest.mark.check
def test_no_name_or_value_of_a_row_is_markup():
    """Cells are made without Jinja, which would escape what strangers write."""
    hostile, key = "\"><script>'&", "0x" + "ab" * 20
    namesake = {"address": key, "sharedText": "symbol", "symbol": hostile, "holderCount": 7}
    token = dict.fromkeys(("symbol", "name", "logoUrl"), hostile)
    token["namesake"] = {**namesake, "firstSeen": "2026-01-02T00:00:00Z"}
    names = {key: {"name": hostile, "claim": hostile, "token": {**token, "decimals": 18}}}
    of_names = (
        cells.address(key, names),
        cells.party(key, names, None),
        cells.address(key, {key: {"name": None, "claim": hostile}}, whole=True),
        cells.amount("7" * 40, 18, hostile),
        cells.title_of(hostile * 2),
        cells.token_amount("7" * 40, key, names),
        cells.token_link(key, names),
    )
    of_values = (
        cells.address(hostile),
        cells.transaction(hostile, hostile, hostile),
        cells.shortened(hostile * 3),
        cells.age(hostile),
        cells.digits(hostile, formatting.AlignedAmount(hostile, hostile, None), None),
        cells.row_id(hostile, hostile),
    )
    for cell in (*of_names, *of_values):
        text = re.sub(r"</?(a|bdi|data|img|span|time)( [a-z-]+(=\"[^\"]*\")?)*>", "", cell)
        assert not set("<>\"'") & set(
            text.removeprefix('id="').removesuffix('"').replace(' title="', "")
        ), cell
    assert all("&lt;script&gt;" in cell for cell in of_names)


def test_a_name_that_is_written_like_another_address_is_known():
    names = {"0x5FbDB2.eth": True, "pay.0x5fbdb2.eth": True, "0x14dc79.eth": False}
    key = "0x14dc79964da2c08b23698b3d3cc7ca32193d9955"
    assert {name: resembles_another(name, key) for name in names} == names
