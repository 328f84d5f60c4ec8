"""A page of a list: which part of it, in which form, and which statement serves a filter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from scan.parameters import BIGINT_MAX
from scan.queries.reader import Reader

# How PostgreSQL writes the records: as /api/v1 has them, or as scan/etherscan completes them.
Form = Literal["api", "etherscan"]

# By which keys a list has a counter and checkpoints: see "Pages of the long lists" in schema.sql.
LISTS = {
    "transactions": ("address", "from", "to"),
    "token_transfers": ("address", "from", "to", "token"),
    "internal_transfers": ("address", "from", "to"),
    "dex_trades": ("maker", "dex"),
    "logs": ("address", "topic0"),
}


class Window(NamedTuple):
    """Which part of a list: `direction` is asc or desc, both blocks belong to the range."""

    limit: int
    offset: int
    direction: str = "desc"
    block_from: int = 0
    block_to: int = BIGINT_MAX


@dataclass(frozen=True)
class Page:
    """`data` is a JSON array as text; `total` counts the rows that match the filter, exactly.

    It is None where nobody has counted them: by several keys at once, and of a node's logs.
    """

    data: str
    count: int
    total: int | None
    untraced_blocks: int | None = None  # of internal transfers; None where no block has traces


def filtered_page(
    reader: Reader,
    entity: str,
    keys: Mapping[str, bytes | str | None],
    window: Window,
    *,
    form: Form | None = None,
    **of_several: object,
) -> Page:
    """No key: by ordinal. One of LISTS: from its nearest checkpoint. Others: the narrowest index.

    `form` is None for an entity that has but one; `of_several` is what only the statement by
    several keys takes.
    """
    given = {name: value for name, value in keys.items() if value is not None}
    values: dict[str, Any] = window._asdict()
    if form is not None:
        values["form"] = form
    if not given:
        return Page(*reader.row(f"queries/{entity}_list", **values))
    values["has_lower"] = window.block_from > 0
    values["has_upper"] = window.block_to < BIGINT_MAX
    [(name, key), *others] = given.items()
    if not others and name in LISTS[entity]:
        values["list"] = f"{entity}_by_{name}"
        values["key"] = key.encode() if isinstance(key, str) else key
        return Page(*reader.row(f"queries/{entity}_list_by_key", **values))
    statement = f"queries/{entity}_list_by_keys"
    # Which index is the narrowest depends on the values themselves.
    return Page(*reader.row(statement, planned_per_call=True, **values, **keys, **of_several))
