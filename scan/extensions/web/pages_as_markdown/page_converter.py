"""How markdownify writes the elements of a page: what strangers write stays text, in every place.

Importing it takes 60 ms and 6 MB, which processes without such pages do without.
"""

import re
from typing import Any

from markdownify import ATX, MarkdownConverter

INLINE = frozenset({"a", "b", "bdi", "code", "data", "i", "img", "span", "strong", "time"})
_BACKTICKS = re.compile("`+")
_untyped: Any = MarkdownConverter  # its types leave out what is overridden here


class PageConverter(_untyped):  # type: ignore[misc]
    """The conversion of elements, whose time grows with their length alone.

    Without `wrap`, and with `strip_pre`, regular expressions of markdownify take a time that
    grows with the square of a run of spaces: 150,000 of them in a source took 34 s in one call.
    """

    class Options:
        heading_style = ATX
        bullets = "-"
        escape_misc = True
        wrap = True
        wrap_width = None
        strip_pre = None

    def process_tag(self, node: Any, parent_tags: set[str] | None = None) -> str:
        text = str(super().process_tag(node, parent_tags))
        is_adjacent = getattr(node.previous_sibling, "name", None) is not None
        if is_adjacent and node.name in INLINE and "pre" not in (parent_tags or ()):
            return f" {text}"  # in HTML, style alone separates them
        return text

    def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:
        """Return a block whose fence is longer than any run of backticks in it: CommonMark 0.31.2,
        section 4.5."""
        longest = max(map(len, _BACKTICKS.findall(text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"\n\n{fence}\n{text}\n{fence}\n\n" if text else ""

    def convert_code(self, el: Any, text: str, parent_tags: set[str]) -> str:
        span = str(super().convert_code(el, text, parent_tags))
        # A pipe ends a cell even in code: GitHub Flavored Markdown 0.29, section 4.10.
        return span.replace("|", "\\|") if {"td", "th"} & parent_tags else span

    def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:
        el["alt"] = self.escape(" ".join(el.get("alt", "").split()), parent_tags)
        return str(super().convert_img(el, text, parent_tags))
