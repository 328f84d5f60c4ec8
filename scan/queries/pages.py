"""A page of a list: which part of it, and which statement serves a filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from scan.parameters import BIGINT_MAX
from scan.queries.reader import Reader


class Window(NamedTuple):
    """Which part of a list: `direction` is asc or desc, both blocks belong to the range."""

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


def read_page(
    reader: Reader,
    statement: str,
    window: Window,
    *,
    planned_per_call: bool = False,
    **filters: object,
) -> Page:
    row = reader.row(statement, planned_per_call=planned_per_call, **window._asdict(), **filters)
    return Page(*row)


def filtered_page(
    reader: Reader, entity: str, filters: Mapping[str, bytes | str | None], window: Window
) -> Page:
    """No filter: by ordinal. One: from its nearest checkpoint. Several: the narrowest index."""
    given = [name for name, value in filters.items() if value is not None]
    if not given:
        return read_page(reader, f"queries/{entity}_list", window)
    has_from, has_to = window.block_from > 0, window.block_to < BIGINT_MAX
    has_list = len(given) == 1 and not has_from and not has_to
    key = filters[given[0]]
    by_address = filters.get("address") is not None
    optional = {name: value for name, value in filters.items() if name != "address"}
    return read_page(
        reader,
        f"queries/{entity}_list_by_address" if by_address else f"queries/{entity}_list_by_party",
        window,
        # Which index is the narrowest for a combination depends on the values themselves.
        planned_per_call=not has_list,
        **({"address": filters["address"]} if by_address else {}),
        **optional,
        **{f"has_{name}": value is not None for name, value in optional.items()},
        has_lower=has_from or (has_list and window.direction == "asc"),
        has_upper=has_to or (has_list and window.direction == "desc"),
        has_list=has_list,
        list=f"{entity}_by_{given[0]}" if has_list else None,
        key=(key.encode() if isinstance(key, str) else key) if has_list else None,
    )
