"""Pages as Markdown, for programs that read text: `Accept: text/markdown`."""

import re

from scan.errors import TooLarge

MEDIA_TYPE = "text/markdown"
MAX_HTML_BYTES = 200 * 1024  # which take up to 0.7 s to convert, one page at a time
LEFT_OUT = ("script", "style", "svg", "form", "button", "nav", "dialog", "template")
_BLANK_LINES = re.compile(r"\n\s*\n\s*\n+")


def to_markdown(html: str) -> str:
    """Return the page's <main> as Markdown. Raises TooLarge."""
    if len(html) > MAX_HTML_BYTES:
        raise TooLarge("This page is too large for Markdown; read it from the API: /docs/.")
    # 60 ms and 6 MB, for the first page of this kind.
    from bs4 import BeautifulSoup
    from markdownify import ATX, MarkdownConverter

    document = BeautifulSoup(html, "html.parser")
    main = document.main or document  # parts of pages have none
    for element in main.select(f"{', '.join(LEFT_OUT)}, [hidden]"):
        element.decompose()
    text = MarkdownConverter(heading_style=ATX, bullets="-", escape_misc=True).convert_soup(main)
    return _BLANK_LINES.sub("\n\n", text).strip() + "\n"
