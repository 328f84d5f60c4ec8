"""Pages as Markdown, for programs that read text: `Accept: text/markdown`."""

import re
from typing import Any

from scan.errors import TooLarge
from scan.pages.formatting import visible

MAX_HTML_BYTES = 200 * 1024  # which take up to 0.7 s to convert, one page at a time
LEFT_OUT = ("script", "style", "svg", "form", "button", "nav", "dialog", "template", ".js")
_MARKUP = re.compile(r"[\\`*_\[\]<>#|~&!]")
_BACKTICKS = re.compile("`+")


def to_markdown(html: str) -> str:
    """Convert the page's <main>. Raises TooLarge.

    Whatever a contract, a token or a source writes stays text: it opens no markup of its own and
    leaves no code block, cell or link. The time grows with the length of the page alone.
    """
    if len(html) > MAX_HTML_BYTES:
        raise TooLarge("This page is too large for Markdown; read it from the API: /docs/.")
    # 60 ms and 6 MB, for the first page of this kind.
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    untyped: Any = MarkdownConverter  # its types leave out what is overridden here

    class Converter(untyped):  # type: ignore[misc]
        def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:
            fence = "`" * max(3, 1 + _longest_run(text))  # CommonMark 0.31.2, section 4.5
            return f"\n\n{fence}\n{text}\n{fence}\n\n" if text else ""

        def convert_code(self, el: Any, text: str, parent_tags: set[str]) -> str:
            span: str = super().convert_code(el, text, parent_tags)
            # A pipe ends a cell even in code: GitHub Flavored Markdown 0.29, section 4.10.
            return span.replace("|", "\\|") if {"td", "th"} & parent_tags else span

        def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:
            el["alt"] = self.escape(" ".join(el.get("alt", "").split()), parent_tags)
            return str(super().convert_img(el, text, parent_tags))

    document = BeautifulSoup(html, "html.parser")
    main = document.main or document  # parts of pages have none
    for element in main.select(f"{', '.join(LEFT_OUT)}, [hidden]"):
        element.decompose()
    for element in main.select("[title]"):
        del element["title"]  # markdownify does not escape it
    # Without `wrap`, and with `strip_pre`, regular expressions of markdownify take a time that
    # grows with the square of a run of spaces: 150,000 of them in a source took 34 s in one call.
    converter = Converter(
        heading_style=ATX,
        bullets="-",
        escape_misc=True,
        wrap=True,
        wrap_width=None,
        strip_pre=None,
    )
    text: str = converter.convert_soup(main)
    return text.strip() + "\n"


def escaped(text: str) -> str:
    """Return a text as one paragraph of Markdown without markup; it begins with a word."""
    return _MARKUP.sub(r"\\\g<0>", visible(text))


def _longest_run(text: str) -> int:
    return max(map(len, _BACKTICKS.findall(text)), default=0)
