"""Claims of other explorers about contracts that are not verified here."""

from typing import Any

import orjson

from scan.queries.reader import Reader

CLAIMED = "claimed"  # the outcome of what is kept as a claim
MAX_TEXT = 300


def of(reader: Reader, address: bytes) -> list[dict[str, Any]]:
    """Return the claims about the code at an address; none where it is verified."""
    (data,) = reader.row("queries/contract_claims_list", address=address)
    claims: list[dict[str, Any]] = orjson.loads(data)
    return claims


def clean(text: str | None) -> str | None:
    """Return at most MAX_TEXT characters, with spaces for those that are not printable: a source's
    names and versions may be any text."""
    if text is None:
        return None
    return "".join(c if c.isprintable() else " " for c in text[:MAX_TEXT]).strip()
