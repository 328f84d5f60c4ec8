"""The address of a name among the results of a search, or why it is not known.

Anybody can have a name, so that it is listed and leads nowhere by itself."""

import re
from typing import Any

from scan.errors import Unavailable, UpstreamFailed
from scan.extensions.names import node_names, normalization, primary_names
from scan.extensions.search.hooks import Results, Search, exact_result
from scan.hex import to_hex
from scan.queries.reader import Reader

REASONS = {
    node_names.Problem.OFF_CHAIN: (
        "other hosts keep it (EIP-3668), and are not asked or gave no valid answer"
    ),
    node_names.Problem.UNREAD: "the node did not answer",
}
_LIKE_NAME = re.compile(r"\S+\.[^\s.]{2,}\Z")


def addresses_of_name(reader: Reader, text: str) -> list[dict[str, Any]]:
    try:
        resolved = _resolve(reader, text)
    except normalization.NotNormalizable:
        return []
    if not isinstance(resolved, primary_names.Resolved) or resolved.address is None:
        return []
    return [exact_result("name", to_hex(resolved.address), resolved.name, ("name",))]


def unread_name(reader: Reader, text: str) -> list[dict[str, str]]:
    """Return why it is not known whether a name has an address, as `reason`, or why a text beyond
    ASCII is no name, as `refusal`; nothing where neither is so."""
    try:
        resolved = _resolve(reader, text)
    except normalization.NotNormalizable as error:
        return [] if text.isascii() else [{"refusal": str(error)}]
    if isinstance(resolved, primary_names.Resolved):
        reason = REASONS[resolved.problem] if resolved.problem else None
    else:
        reason = resolved
    return [{"reason": reason}] if reason else []


def _resolve(reader: Reader, text: str) -> primary_names.Resolved | str | None:
    """Return what a text of a search that looks like a name leads to, or why it is not known.
    Raises NotNormalizable."""
    names, text = reader.sources.get(primary_names.Names), text.strip()
    service = names.service(reader) if _LIKE_NAME.match(text) else None
    if service is None:
        return None
    try:
        return names.resolve(reader, service, text)
    except (normalization.NotChecked, UpstreamFailed, Unavailable) as error:
        reader.do_not_cache()
        return str(error).rstrip(".")


HOOKS = Search(
    results={
        "name": Results("Names", "/address/", addresses_of_name),
        "unread_name": Results("", "", unread_name, template="unread_name.html"),
    }
)
