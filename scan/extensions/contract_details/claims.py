"""Claims of other explorers about contracts that are not verified here."""

from typing import Any

import orjson

from scan.queries.reader import Reader


def of(reader: Reader, address: bytes) -> list[dict[str, Any]]:
    """Return the claims about the code at an address; none where it is verified."""
    (data,) = reader.row("queries/contract_claims_list", address=address)
    claims: list[dict[str, Any]] = orjson.loads(data)
    return claims
