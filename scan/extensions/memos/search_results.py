"""A memo among the results of a search, by its whole text.

Anybody can send one of any text, so that it is listed after all others and leads nowhere by itself.
"""

from typing import Any

from scan.ethereum.display_text import MAX_MEMO_BYTES, text_hash, text_start
from scan.extensions.search.hooks import Results, Search, exact_result
from scan.queries.pages import Window, filtered_page
from scan.queries.reader import Reader


def memo_with_text(reader: Reader, text: str) -> list[dict[str, Any]]:
    """Return what leads to all memos with a text, if there is one."""
    whole = text_start(text.encode())
    if not whole:
        return []
    page = filtered_page(reader, "memos", {"text": text_hash(whole)}, Window(1, 0))
    if page.data == "[]":
        return []
    return [exact_result("memo", whole, whole, ())]


HOOKS = Search(
    results={
        "memo": Results("Memos", "/memos?text=", memo_with_text, most=MAX_MEMO_BYTES, is_last=True)
    }
)
