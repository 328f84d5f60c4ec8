"""Syntax highlighting of sources by Pygments: comments, strings, numbers and keywords of Solidity,
Vyper and Yul.
"""

from collections.abc import Mapping
from functools import cache, lru_cache
from html import escape
from typing import Any

from markupsafe import Markup

from scan.verification.languages import solidity, vyper

# Usual sources take 0.4 us a character, hostile ones up to 3; each is coloured once.
MAX_HIGHLIGHTED = 100_000
KEPT_SOURCES = 16
# Keywords of Solidity that Pygments' lexer does not have.
_KEYWORDS = (
    r"\b(?:abstract|anonymous|as|assembly|assert|calldata|catch|delete|emit|error|event|fallback"
    r"|immutable|indexed|interface|modifier|override|pure|receive|revert|storage|super|try|type"
    r"|unchecked|using|view|virtual|gwei|ether|wei|seconds|minutes|hours|days|weeks)\b"
)
_VYPER_KEYWORDS = (
    r"@(?:external|internal|view|pure|payable|nonpayable|deploy|nonreentrant|raw_return)\b"
    r"|\b(?:and|as|assert|break|constant|continue|def|elif|else|enum|event|exports|extcall|flag|for"
    r"|from|if|immutable|implements|import|in|indexed|initializes|interface|is|log|not|or|pass"
    r"|payable|public|pure|raise|reentrant|return|self|staticcall|struct|transient|uses|view"
    r"|True|False|None|address|bool|decimal|String|Bytes|DynArray|HashMap|u?int[0-9]+|bytes[0-9]+)"
    r"\b"
)
_YUL_KEYWORDS = (
    r"\b(?:object|code|data|function|let|if|for|switch|case|default|break|continue|leave|hex"
    r"|true|false)\b"
)
_CLASSES = {"Token.Keyword": "k", "Token.Comment": "c", "Token.Literal": "s"}  # of scan.css


@lru_cache(maxsize=KEPT_SOURCES)
def highlighted_lines(source: str, language: str = solidity.SOLIDITY.name) -> tuple[Markup, ...]:
    """Return the lines of a source as HTML, without colours above MAX_HIGHLIGHTED."""
    if len(source) > MAX_HIGHLIGHTED:
        return tuple(Markup(escape(line)) for line in source.split("\n"))
    tokens = _lexer(language).get_tokens_unprocessed(source)
    html = "".join(_coloured(str(kind), text) for _, kind, text in tokens)
    return tuple(map(Markup, html.split("\n")))


def _coloured(kind: str, text: str) -> str:
    """Return a token, each of its lines in an element of its own."""
    name = next((_CLASSES[prefix] for prefix in _CLASSES if kind.startswith(prefix)), None)
    if name is None:
        return escape(text)
    return "\n".join(line and f"<i class={name}>{escape(line)}</i>" for line in text.split("\n"))


@cache
def _lexer(language: str) -> Any:
    """Return Pygments' lexer of a language, whose time grows with the length of the source alone.
    It is imported at the first use: 10 ms and 1.5 MB."""
    from pygments.lexer import RegexLexer, inherit
    from pygments.lexers.solidity import SolidityLexer
    from pygments.token import Comment, Keyword, Name, Number, Punctuation, String, Text

    space = (r"\s+", Text)
    line_comment = (r"//[^\n]*", Comment)
    block_comment = (r"/\*(?:[^*]|\*(?!/))*+(?:\*/)?", Comment)
    strings = [(r'"(?:[^"\\\n]|\\.)*+"?', String), (r"'(?:[^'\\\n]|\\.)*+'?", String)]
    rest = [
        (r"0x[0-9a-fA-F]+|[0-9][0-9_]*(?:\.[0-9]+)?", Number),
        (r"[^\W\d][\w$]*", Name),
        (r".", Text),
    ]
    untyped: Any = SolidityLexer
    untyped_base: Any = RegexLexer

    # The original takes 28 s for 40,000 slashes.
    class Solidity(untyped):  # type: ignore[misc]
        tokens = {
            "root": [
                space,
                line_comment,
                block_comment,
                *strings,
                (r"(?:[.;{}(),\[\]~!%^&*+=|?:<>-]|/(?![/*]))+", Punctuation),
                (r"(?:[^\x00-\x7e]|[\x00-\x1f\\@#`])+", Text),
                (f"{_KEYWORDS}|{SolidityLexer.datatype}", Keyword),
                inherit,
            ],
            "pragma": [(r"[^;]+", Text), (";", Punctuation, "#pop")],
        }

    class Vyper(untyped_base):  # type: ignore[misc]
        tokens = {
            "root": [
                space,
                (r"#[^\n]*", Comment),
                (r'"""(?:[^"]|"(?!""))*+(?:""")?', Comment),
                (r"'''(?:[^']|'(?!''))*+(?:''')?", Comment),
                *strings,
                (_VYPER_KEYWORDS, Keyword),
                *rest,
            ]
        }

    class Yul(untyped_base):  # type: ignore[misc]
        tokens = {
            "root": [space, line_comment, block_comment, *strings, (_YUL_KEYWORDS, Keyword), *rest]
        }

    lexers: Mapping[str, Any] = {vyper.VYPER.name: Vyper, solidity.YUL.name: Yul}
    return lexers.get(language, Solidity)(stripnl=False, ensurenl=False)
