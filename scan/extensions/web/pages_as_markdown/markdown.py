"""The conversion of a page to Markdown."""

import re
from typing import Any

from scan.errors import TooLarge
from scan.pages import formatting, hooks

MAX_HTML_BYTES = 200 * 1024  # which take up to 0.7 s to convert, one page at a time
# The last is hidden from readers, such as the axes of a chart, whose values a table has.
LEFT_OUT = tuple(
    "script style svg button dialog template datalist .js .skip [hidden] [aria-hidden=true]".split()
)
INLINE = frozenset({"a", "b", "bdi", "code", "data", "i", "img", "span", "strong", "time"})
MAX_CHOICES = 20  # of a field
_BACKTICKS = re.compile("`+")


def to_markdown(html: str, path: str = "") -> str:
    """Convert the page's <main>, with its links and forms, and below it the menu. Raises TooLarge.

    Forms without a path of their own lead to `path`. Whatever a contract, a token or a source
    writes stays text: it opens no markup of its own and leaves no code block, cell or link. The
    time grows with the length of the page alone.
    """
    if len(html) > MAX_HTML_BYTES:
        raise TooLarge("This page is too large for Markdown; read it from the API: /docs/.")
    # 60 ms and 6 MB, for the first page of this kind.
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    untyped: Any = MarkdownConverter  # its types leave out what is overridden here

    class Converter(untyped):  # type: ignore[misc]
        def process_tag(self, node: Any, parent_tags: set[str] | None = None) -> str:
            text = str(super().process_tag(node, parent_tags))
            is_adjacent = getattr(node.previous_sibling, "name", None) is not None
            if is_adjacent and node.name in INLINE and "pre" not in (parent_tags or ()):
                return f" {text}"  # in HTML, style alone separates them
            return text

        def convert_pre(self, el: Any, text: str, parent_tags: set[str]) -> str:
            fence = "`" * max(
                3, 1 + max(map(len, _BACKTICKS.findall(text)), default=0)
            )  # CommonMark 0.31.2, section 4.5
            return f"\n\n{fence}\n{text}\n{fence}\n\n" if text else ""

        def convert_code(self, el: Any, text: str, parent_tags: set[str]) -> str:
            span: str = super().convert_code(el, text, parent_tags)
            # A pipe ends a cell even in code: GitHub Flavored Markdown 0.29, section 4.10.
            return span.replace("|", "\\|") if {"td", "th"} & parent_tags else span

        def convert_img(self, el: Any, text: str, parent_tags: set[str]) -> str:
            el["alt"] = self.escape(" ".join(el.get("alt", "").split()), parent_tags)
            return str(super().convert_img(el, text, parent_tags))

    document = BeautifulSoup(html, "html.parser")
    menu = _menu(document)
    main = document.main or document  # parts of pages have none
    if main.h1 is not None and (stale := main.select_one("#stale")) is not None:
        main.h1.insert_after(stale.extract())  # a text begins with its heading
    for element in main.select(", ".join(LEFT_OUT)):
        element.decompose()
    for link in main.select("nav a[aria-current]"):
        link.wrap(document.new_tag("strong"))
    for form in main.select("form"):
        if form.select_one("[name]"):  # others are sent by scripts alone
            form.insert_before(_form(document, form, path))
        for control in form.select("label, input, select, textarea"):
            control.decompose()
    for block in main.select("nav, form"):
        block.name = "div"
    if menu is not None:
        main.append(menu)
    _write_whole_values(main)
    for element in main.select("[title]"):
        del element["title"]  # markdownify does not escape it
    # Without `wrap`, and with `strip_pre`, regular expressions of markdownify take a time that
    # grows with the square of a run of spaces: 150,000 of them in a source took 34 s in one call.
    converter = Converter(
        heading_style=ATX, bullets="-", escape_misc=True, wrap=True, wrap_width=None, strip_pre=None
    )
    text: str = converter.convert_soup(main)
    return text.strip() + "\n"


def _write_whole_values(main: Any) -> None:
    """Write out values that HTML shows on hover: all digits of an amount in place of the short one
    (its column has the unit), another whole value behind its short form."""
    for element in main.select("[data-full]"):
        if element.name == "data":
            element.string = element["data-full"].partition(" ")[0]
        elif element.get_text().replace(",", "") != element["data-full"]:
            element.append(f" ({element['data-full']})")


def _menu(document: Any) -> Any:
    """Return the links of all pages, the search and the page's JSON, as one paragraph; None of a
    part of a page. The search of the home page stands in its text."""
    if document.header is None:
        return None
    menu = document.new_tag("p")
    for link in document.select("header .menu a, footer .json"):
        menu.extend([link, " "])
    for search in document.select("header form"):
        menu.append(_form(document, search, ""))
    return menu


def _form(document: Any, form: Any, path: str) -> Any:
    """Return a form in words: its method, path and fields, with their values."""
    method, target = form.get("method", "get").upper(), form.get("action", path).partition("#")[0]
    line = document.new_tag("p")
    line.extend([_code(document, f"{method} {target}"), " with"])
    for control in form.select("input[name], select[name], textarea[name]"):
        options = [(_value(option), option) for option in control.select("option")]
        chosen = [value for value, option in options if option.has_attr("selected")]
        value = "".join(chosen) or control.get("value", "")
        line.extend([" ", _code(document, f"{control['name']}={value}")])
        if control.get("type") == "hidden":
            continue
        label = control.find_parent("label")
        control.extract()
        words = control.get("aria-label", "") if label is None else label.get_text(" ", strip=True)
        line.append(f" ({words}")
        for index, (value, option) in enumerate(options[:MAX_CHOICES]):
            line.append("; " if index else ": ")
            line.extend([_code(document, value), " "] if value else [])
            line.append(_words(option) if _words(option) != value else "")
        line.append(")" if len(options) <= MAX_CHOICES else "; …)")
    return line


def _code(document: Any, text: str) -> Any:
    tag = document.new_tag("code")
    tag.string = formatting.visible(text)
    return tag


def _words(option: Any) -> str:
    """Return the text of an option up to the next one, which the parser takes for a part of it."""
    return str(option.find(string=True, recursive=False) or "").strip()


def _value(option: Any) -> str:
    return str(option.get("value", _words(option)))


HOOKS = hooks.Markdown(to_markdown=to_markdown)
