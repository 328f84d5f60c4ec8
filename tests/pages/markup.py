"""What of a page is markup, and that none of it is code."""

import re
from html.parser import HTMLParser


class Markup(HTMLParser):
    """`tags` of a page, with their attributes."""

    def __init__(self, html):
        super().__init__()
        self.tags = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def require_no_inline_code(html):
    for tag, attributes in Markup(html).tags:
        assert tag != "style" and "style" not in attributes, tag
        assert tag != "script" or attributes.get("src", ""), tag
        assert not [name for name in attributes if name.startswith("on")], tag
        target = attributes.get("href") or attributes.get("src") or "/"
        assert target.startswith(("/", "#")), target


def require_labels(html):
    """Where rows are cards the label is a cell's only heading; a keyboard reaches long text."""
    for table in re.findall(r'<div class="table".*?</table>', html, re.S):
        for tag, attributes in Markup(table).tags:
            assert tag != "td" or "data-label" in attributes, attributes
            is_frame = tag == "div" and attributes.get("class") == "table"
            assert not is_frame or attributes["tabindex"] == "0"
    for tag, attributes in Markup(html).tags:
        if tag == "pre":
            assert attributes.get("tabindex") == "0" and attributes.get("aria-label")
