"""Colours the source of a contract: comments, strings, numbers and keywords as HTML."""

from functools import cache, lru_cache
from html import escape
from typing import Any

from markupsafe import Markup

# Usual sources take 0.4 us a character, hostile ones up to 3; each is coloured once.
MAX_HIGHLIGHTED = 100_000
KEPT_SOURCES = 16
# Keywords of Solidity that Pygments' lexer does not have.
_KEYWORDS = (
    r"\b(?:abstract|anonymous|as|assembly|assert|calldata|catch|delete|emit|error|event|fallback"
    r"|immutable|indexed|interface|modifier|override|pure|receive|revert|storage|super|try|type"
    r"|unchecked|using|view|virtual|gwei|ether|wei|seconds|minutes|hours|days|weeks)\b"
)
_CLASSES = {"Token.Keyword": "k", "Token.Comment": "c", "Token.Literal": "s"}  # of scan.css


@lru_cache(maxsize=KEPT_SOURCES)
def highlighted_lines(source: str) -> tuple[Markup, ...]:
    """Return the lines of a Solidity source as HTML, without colours above MAX_HIGHLIGHTED."""
    if len(source) > MAX_HIGHLIGHTED:
        return tuple(Markup(escape(line)) for line in source.split("\n"))
    html = "".join(_coloured(str(kind), text) for _, kind, text in _tokens(source))
    return tuple(map(Markup, html.split("\n")))


def _tokens(source: str) -> Any:
    return _lexer().get_tokens_unprocessed(source)


def _coloured(kind: str, text: str) -> str:
    """Return a token, each of its lines in an element of its own."""
    name = next((_CLASSES[prefix] for prefix in _CLASSES if kind.startswith(prefix)), None)
    if name is None:
        return escape(text)
    return "\n".join(line and f"<i class={name}>{escape(line)}</i>" for line in text.split("\n"))


@cache
def _lexer() -> Any:
    """Return Pygments' lexer of Solidity with later keywords and other rules, so that its time
    grows with the length of the source alone: the original takes 28 s for 40,000 slashes. It is
    imported at the first use: 10 ms and 1.5 MB."""
    from pygments.lexer import inherit
    from pygments.lexers.solidity import SolidityLexer
    from pygments.token import Comment, Keyword, Punctuation, String, Text

    untyped: Any = SolidityLexer

    class Solidity(untyped):  # type: ignore[misc]
        tokens = {
            "root": [
                (r"\s+", Text),
                (r"//[^\n]*", Comment),
                (r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?", Comment),
                (r'"(?:[^"\\\n]|\\.)*+"?', String),
                (r"'(?:[^'\\\n]|\\.)*+'?", String),
                (r"(?:[.;{}(),\[\]~!%^&*+=|?:<>-]|/(?![/*]))+", Punctuation),
                (r"(?:[^\x00-\x7e]|[\x00-\x1f\\@#`])+", Text),
                (f"{_KEYWORDS}|{SolidityLexer.datatype}", Keyword),
                inherit,
            ],
            "pragma": [(r"[^;]+", Text), (";", Punctuation, "#pop")],
        }

    return Solidity(stripnl=False, ensurenl=False)
