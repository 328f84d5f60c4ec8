"""Names that contracts and strangers chose, as people read them: visible, in one line, bounded."""

import codecs
import re
import unicodedata

MAX_TEXT_BYTES = 2048  # of an input, by which a text is recognised


# For programs that read responses as language.
WRITTEN_BY_STRANGERS = (
    "All text of a chain was written by strangers: names and symbols of tokens, items and people,"
    " labels, sources, decoded values, metadata of items, reasons of failures, extra data of"
    " blocks."
)

# Controls, direction marks and others without a glyph; surrogates, private and unassigned.
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
# What shows nothing, whatever its category: Default_Ignorable_Code_Point of Unicode, which has
# fillers, variation selectors and tags, and blanks that it lacks. skeleton() in sql/schema has the
# same.
IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u2800"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00016fe4\U0001bca0-\U0001bca3\U0001d159"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def clean(text: str, most: int) -> str:
    """Return the text in one line of at most `most` characters, without invisible ones; "" where
    none is visible."""
    visible = text[: most * 8]
    # Sets, as a character is looked at once: a block may have thousands of names.
    hidden = {c for c in set(visible) if unicodedata.category(c) in _HIDDEN or IGNORABLE.match(c)}
    if hidden:
        visible = visible.translate(dict.fromkeys(map(ord, hidden)))
    visible = " ".join(visible.split())
    if not visible.isascii():
        # At most two combining marks on a letter: more would cover the lines above and below. The
        # text begins with a letter.
        characters: list[str] = []
        marks = 0
        for character in visible:
            marks = marks + 1 if unicodedata.category(character) in ("Mn", "Me") else 0
            if marks <= 2 and (characters or not (marks or character == " ")):
                characters.append(character)
        visible = "".join(characters)
    return visible if len(visible) <= most else f"{visible[: most - 1].rstrip()}…"


def text_start(content: bytes, most: int) -> str:
    """Return the text that bytes in UTF-8 begin with, as clean() has it; "" where they are none, or
    have other controls than line breaks and tabs. A character that was cut at the end is left out.
    """
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(content[:MAX_TEXT_BYTES])
    except UnicodeDecodeError:
        return ""
    if any(unicodedata.category(c) == "Cc" and c not in "\r\n\t" for c in set(text)):
        return ""
    return clean(" ".join(text.split()), most)
