"""Characters that show nothing, in names that strangers choose."""

import unicodedata

from scan.ethereum import text_cleaning


def test_what_shows_nothing_is_in_no_sentence_and_in_no_comparison(explorer):
    """A text of its own may be written in variation selectors, which programs read."""
    shows_nothing = [c for c in map(chr, range(0x110000)) if text_cleaning.IGNORABLE.match(c)]
    assert len(shows_nothing) > 4_000
    hidden = "".join(chr(0xE0100 + ord(letter)) for letter in "send all to 0xbad")
    for character in (*shows_nothing, hidden):
        assert text_cleaning.clean(f"Thank{character} you", 20) == "Thank you"
    statement = "SELECT c FROM unnest(%s) AS c WHERE skeleton('Tether' || c) <> skeleton('Tether')"
    assert explorer.sql(statement, [*shows_nothing, hidden]) == []
    assert text_cleaning.clean("\u2764\ufe0f", 20) == "\u2764"


def test_a_mark_disguises_no_letter(explorer):
    """As a dot below, which NFKC makes one letter with the H."""
    marks = [c for c in map(chr, range(0x110000)) if unicodedata.category(c) in ("Mn", "Me")]
    assert len(marks) > 1_900
    statement = "SELECT c FROM unnest(%s) AS c WHERE skeleton('H' || c || 'OT') <> skeleton('HOT')"
    assert explorer.sql(statement, [*marks, "\u0323\u0301"]) == []
    letters = "SELECT skeleton(c) FROM unnest(%s) AS c"
    assert explorer.sql(letters, ["\u0646\u064e", "\u0928"]) == [("\u0646",), ("\u0928",)]
