"""The chain in a path, and in the list of chains, for a service and for a gateway of several."""

import re

from scan.errors import InvalidParameter

_CHAIN_ID = re.compile(r"[0-9]{1,20}", re.ASCII)


def canonical_id(text: str) -> str:
    """Return a chain id without leading zeros; raises InvalidParameter where it is no number."""
    if not _CHAIN_ID.fullmatch(text):
        raise InvalidParameter("chainId must be a number of at most 20 digits.", field="chainId")
    return text.lstrip("0")


def record(chain_id: int, name: str) -> dict[str, object]:
    return {"name": name, "chainId": chain_id, "supported": True}
