"""Names from contracts as text that shows what it is: visible, in one line, bounded."""

import codecs
import unicodedata

MOST_BYTES = 2048  # that a text is recognised by
# Controls, direction marks and others without a glyph; surrogates, private and unassigned.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# Letters that show nothing, though Unicode calls them letters or symbols.
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0\u034f"


def clean(text: str, most: int) -> str:
    """Return the text in one line of at most `most` characters, without invisible ones; "" where
    none is visible."""
    shown = "".join(
        character
        for character in text[: most * 8]
        if unicodedata.category(character) not in _HIDDEN and character not in _BLANK_LETTERS
    )
    shown = _without_stacks(" ".join(shown.split()))
    return shown if len(shown) <= most else f"{shown[: most - 1].rstrip()}…"


def text_start(content: bytes, most: int) -> str:
    """Return the text that bytes in UTF-8 begin with, as clean() has it; "" where they are none, or
    have other controls than line breaks and tabs. A character that was cut at the end is left out.
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(content[:MOST_BYTES])
    except UnicodeDecodeError:
        return ""
    if any(unicodedata.category(c) == "Cc" and c not in "\r\n\t" for c in text):
        return ""
    return clean(" ".join(text.split()), most)


def _without_stacks(text: str) -> str:
    """Return the text with at most two combining marks on a letter: more would cover the lines
    above and below."""
    kept: list[str] = []
    marks = 0
    for character in text:
        marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
        if marks <= 2 and not (marks and not kept):
            kept.append(character)
    return "".join(kept)


def short(address: str) -> str:
    return f"{address[:8]}…{address[-4:]}"
