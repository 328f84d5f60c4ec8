"""The conversion of a page to Markdown."""

from typing import Any

from scan.errors import TooLarge
from scan.pages import formatting, hooks

MAX_HTML_CHARACTERS = 200 * 1024  # which take up to 0.7 s to convert, one page at a time
# The last is hidden from readers, such as the axes of a chart, whose values a table has.
LEFT_OUT = (
    "script, style, svg, button, dialog, template, datalist, .js, .skip, [hidden],"
    "[aria-hidden=true]"
)
MAX_CHOICES = 20  # of a field


def to_markdown(html: str, path: str = "") -> str:
    """Convert the page's <main>, with its links and forms, and below it the menu. Raises TooLarge.

    Forms without a path of their own lead to `path`. Whatever a contract, a token or a source
    writes stays text: it opens no markup of its own and leaves no code block, cell or link. The
    time grows with the length of the page alone.
    """
    if len(html) > MAX_HTML_CHARACTERS:
        raise TooLarge("This page is too large for Markdown; read it from the API: /docs/.")
    # Only the first page of this kind takes the time to import these.
    from bs4 import BeautifulSoup

    from scan.extensions.web.pages_as_markdown.page_converter import PageConverter

    document = BeautifulSoup(html, "html.parser")
    menu = _menu(document)
    main = document.main or document  # parts of pages have none
    _begin_with_heading(main)
    for element in main.select(LEFT_OUT):
        element.decompose()
    for link in main.select("nav a[aria-current]"):
        link.wrap(document.new_tag("strong"))
    _write_forms(document, main, path)
    for block in main.select("nav, form"):
        block.name = "div"
    if menu is not None:
        main.append(menu)
    _write_whole_values(main)
    for element in main.select("[title]"):
        del element["title"]  # markdownify does not escape it
    return str(PageConverter().convert_soup(main)).strip() + "\n"


def _begin_with_heading(main: Any) -> None:
    """Put the notice of a stale index, which begins a page, below its heading."""
    stale = main.select_one("#stale")
    if main.h1 is not None and stale is not None:
        main.h1.insert_after(stale.extract())


def _write_forms(document: Any, main: Any, path: str) -> None:
    """Put each form's description before it, and leave of the form what it shows beside its
    fields. Forms without named fields are sent by scripts alone."""
    for form in main.select("form"):
        if form.select_one("[name]"):
            form.insert_before(_form(document, form, path))
        for control in form.select("label, input, select, textarea"):
            control.decompose()


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
        selected = map(_value, control.select("option[selected]"))
        value = "".join(selected) or control.get("value", "")
        line.extend([" ", _code(document, f"{control['name']}={value}")])
        if control.get("type") != "hidden":
            line.extend(_label_and_choices(document, control))
    return line


def _label_and_choices(document: Any, control: Any) -> list[Any]:
    """Return a field's label and the values to choose from, with their words, in brackets. The
    field is taken out of its label."""
    label = control.find_parent("label")
    control.extract()
    name = control.get("aria-label", "") if label is None else label.get_text(" ", strip=True)
    parts = [f" ({name}"]
    options = control.select("option")
    for index, option in enumerate(options[:MAX_CHOICES]):
        value, words = _value(option), _words(option)
        parts.append("; " if index else ": ")
        if value:
            parts.extend([_code(document, value), " "])
        parts.append("" if words == value else words)
    parts.append(")" if len(options) <= MAX_CHOICES else "; …)")
    return parts


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
