"""Pages of the six entities: which statement serves a filter, and where it may start."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scan.errors import NotFound
from scan.http.chain_reads import read_chain
from scan.http.services import services
from scan.parameters import BIGINT_MAX


class PageRequest(NamedTuple):
    """What part of a list is wanted: `direction` is asc or desc."""

    limit: int
    offset: int
    direction: str = "desc"
    block_from: int = 0
    block_to: int = BIGINT_MAX


@dataclass(frozen=True)
class Page:
    """`data` is a JSON array as text; `total` counts the rows that match the filter."""

    data: str
    count: int
    total: int
    untraced_blocks: int | None = None  # of internal transfers; None where no block has traces


def page_body(name: str, page: Page) -> str:
    """A list's body: {name: [...], total}."""
    return f'{{"{name}":{page.data},"total":{page.total}}}'


def blocks(request: PageRequest) -> Page:
    return _read("api/blocks_list", request)


def tokens(request: PageRequest) -> Page:
    return Page(
        *read_chain(
            "api/tokens_list",
            direction=request.direction,
            limit=request.limit,
            offset=request.offset,
        )
    )


def transactions(
    request: PageRequest,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
) -> Page:
    filters = {"address": address, "from": sender, "to": recipient}
    return _filtered("transactions", filters, request)


def token_transfers(
    request: PageRequest,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
    token: bytes | None = None,
) -> Page:
    filters = {"address": address, "from": sender, "to": recipient, "token": token}
    return _filtered("token_transfers", filters, request)


def internal_transfers(
    request: PageRequest,
    *,
    address: bytes | None = None,
    sender: bytes | None = None,
    recipient: bytes | None = None,
) -> Page:
    """Raises NotFound where internal transfers are not indexed at all."""
    filters = {"address": address, "from": sender, "to": recipient}
    page = _filtered("internal_transfers", filters, request)
    if page.untraced_blocks is None:
        raise NotFound(without_traces())
    return page


def without_traces() -> str:
    """Why internal transfers are not indexed, as far as this process knows."""
    if services().settings.traces == "off":
        return "Internal transfers are not indexed, since SCAN_TRACES is off."
    return (
        "Internal transfers are not indexed, since the node gave no traces: they need"
        " SCAN_TRACES=auto and a node that offers debug_traceBlockByHash with callTracer,"
        " trace_block, or the steps of debug_traceTransaction. Contracts that contracts created may"
        " be lacking, too."
    )


def dex_trades(request: PageRequest, *, maker: bytes | None = None, dex: str | None = None) -> Page:
    return _filtered("dex_trades", {"maker": maker, "dex": dex}, request)


def _filtered(entity: str, filters: Mapping[str, bytes | str | None], request: PageRequest) -> Page:
    """No filter: by ordinal. One: from its nearest checkpoint. Several: the narrowest index."""
    given = [name for name, value in filters.items() if value is not None]
    if not given:
        return _read(f"api/{entity}_list", request)
    has_from, has_to = request.block_from > 0, request.block_to < BIGINT_MAX
    has_list = len(given) == 1 and not has_from and not has_to
    key = filters[given[0]]
    by_address = filters.get("address") is not None
    optional = {name: value for name, value in filters.items() if name != "address"}
    return _read(
        f"api/{entity}_list_by_address" if by_address else f"api/{entity}_list_by_party",
        request,
        # Which index is the narrowest for a combination depends on the values themselves.
        planned_per_call=not has_list,
        **({"address": filters["address"]} if by_address else {}),
        **optional,
        **{f"has_{name}": value is not None for name, value in optional.items()},
        has_lower=has_from or (has_list and request.direction == "asc"),
        has_upper=has_to or (has_list and request.direction == "desc"),
        has_list=has_list,
        list=f"{entity}_by_{given[0]}" if has_list else None,
        key=(key.encode() if isinstance(key, str) else key) if has_list else None,
    )


def _read(
    statement: str, request: PageRequest, *, planned_per_call: bool = False, **filters: object
) -> Page:
    row = read_chain(statement, planned_per_call=planned_per_call, **request._asdict(), **filters)
    return Page(*row)
