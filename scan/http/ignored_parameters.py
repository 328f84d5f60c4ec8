"""Parameters that mean nothing here: caches, campaigns and trackers append them to any URL."""

from urllib.parse import unquote_plus

# Besides those of campaigns, which begin with utm_.
TRACKERS = frozenset(
    """
    dclid fbclid gad_source gbraid gclid gclsrc igsh igshid li_fat_id mc_cid mc_eid mkt_tok msclkid
    ref ref_src ref_url srsltid ttclid twclid wbraid yclid
    """.split()
)


def without_ignored(query: str, *, is_page: bool) -> str:
    """Return a query string without parameters that begin with `_`, and of a page without those of
    campaigns and trackers, so that neither views nor keys of cached responses have them."""
    if not query or not (is_page or "_" in query or "%" in query):
        return query
    return "&".join(field for field in query.split("&") if not _is_ignored(field, is_page))


def _is_ignored(field: str, is_page: bool) -> bool:
    name = unquote_plus(field.partition("=")[0]).lower()
    return name.startswith("_") or (is_page and (name.startswith("utm_") or name in TRACKERS))
