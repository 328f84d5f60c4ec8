"""The kind and the implementations of proxies in Blockscout's form."""

from collections.abc import Sequence
from typing import Any

from scan.ethereum.checksums import checksummed
from scan.hex import to_hex
from scan.http.requests import reader
from scan.queries import addresses

KINDS = {
    "eip1167": "eip1167",
    "immutable-args-clone": "clone_with_immutable_arguments",
    "eip7702": "eip7702",
    "eip7760": "erc7760",
    "eip1967": "eip1967",
    "eip1822": "eip1822",
    "openzeppelin": "eip1967_oz",
    "safe": "master_copy",
    "comptroller": "comptroller",
    "eip2535": "eip2535",
}
# Proxies without code of their own, which are verified where their implementations are.
MINIMAL = frozenset({"eip1167", "immutable-args-clone", "eip7702", "eip7760"})


def proxy_fields(kind: str, implementations: Sequence[bytes]) -> dict[str, Any]:
    """Return the fields of an address; `is_verified` is among them where the proxy's own code says
    nothing of it."""
    names = _names(implementations)
    shown = [
        {"address_hash": checksummed(to_hex(address)), "name": name}
        for address, name in zip(implementations, names, strict=True)
    ]
    fields: dict[str, Any] = {"proxy_type": KINDS[kind], "implementations": shown}
    if kind in MINIMAL and all(names):
        fields["is_verified"] = True
    return fields


def _names(implementations: Sequence[bytes]) -> list[str | None]:
    parties = addresses.parties(reader(), implementations)
    return [parties[to_hex(address)]["contract"] for address in implementations]
