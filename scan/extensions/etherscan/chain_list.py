"""The list of chains at /v2/chainlist, for a service and for a gateway of several."""

import re
from collections.abc import Sequence

from scan.server.responses import Environ

COMMENTS = "status: 1 the chain's service answers, 0 it does not"

_HOST = re.compile(r"[A-Za-z0-9.:\[\]-]{1,255}")


def public_url(environ: Environ, trusted_proxies: int) -> str:
    """Return scheme and host as the client has used them, empty for a malformed host."""
    host = environ.get("HTTP_HOST", "")
    proto = environ.get("HTTP_X_FORWARDED_PROTO", "") if trusted_proxies else ""
    return f"{'https' if proto == 'https' else 'http'}://{host}" if _HOST.fullmatch(host) else ""


def record(
    chain_id: str, name: str, page: str, api: str, *, is_answering: bool
) -> dict[str, object]:
    """Return a chain; `page` and `api` are URLs of its pages and of /v2/api."""
    return {
        "chainname": name,
        "chainid": chain_id,
        "blockexplorer": page,
        "apiurl": f"{api}?chainid={chain_id}",
        "status": int(is_answering),
        "comment": "",
    }


def chain_list(records: Sequence[dict[str, object]]) -> dict[str, object]:
    return {"comments": COMMENTS, "totalcount": len(records), "result": records}
