"""What the head of an address's page says of a proxy: where its calls go."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from scan.contracts.proxy_contracts import Proxy, at_blocks, by_code, state_kinds
from scan.errors import Unavailable, UpstreamFailed
from scan.hex import BadHex, to_hex
from scan.http.requests import reader
from scan.pages.records import names_of
from scan.queries import contracts
from scan.queries.addresses import Address

NODE_TIMEOUT_S = 0.5


def proxy_head(key: bytes, account: Address) -> Mapping[str, Any]:
    """Return the values of proxy_head.html: the proxy, None where the code is none or its
    implementation is not known now, and the names of its implementations; `implementation_name`
    is that of the verified source of its only one."""
    is_proxy = account.balance.is_contract and bool(contracts.proxies_among(reader(), [key]))
    known = account.balance.known if account.balance.is_current else None
    proxy = _at_head(key, known.block if known else None) if is_proxy else None
    addresses = [*map(to_hex, proxy.implementations)] if proxy else []
    names = names_of([], *addresses)
    only = names.get(addresses[0]) if len(addresses) == 1 else None
    return {
        "is_proxy": is_proxy,
        "implementations": addresses,
        "implementation_names": names,
        "implementation_name": only and only["contract"],
    }


def _at_head(key: bytes, block: int | None) -> Proxy | None:
    """Return the proxy after a block, the newest indexed one: until the next, the page is the
    same."""
    code = bytes(contracts.get(reader(), key, {"code"}).code or b"")
    kinds = state_kinds(code)
    if (known := by_code(code)) or not kinds:
        return known
    if block is not None:
        with suppress(UpstreamFailed, BadHex, Unavailable):
            return at_blocks(reader().node.within(NODE_TIMEOUT_S), [(key, kinds, block)])[0]
    reader().do_not_cache()
    return None
