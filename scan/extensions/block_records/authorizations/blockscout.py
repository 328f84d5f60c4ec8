"""Accounts that run another address's code, which Blockscout shows as contracts."""

from collections.abc import Mapping, Sequence
from typing import cast

import orjson

from scan.extensions.blockscout.hooks import Blockscout
from scan.queries.reader import Reader


def delegates(reader: Reader, addresses: Sequence[bytes]) -> Mapping[str, str]:
    """Return whose code these accounts run, by account, of those that do."""
    [known] = reader.row("queries/addresses_list_delegates", addresses=[*addresses])
    return cast("dict[str, str]", orjson.loads(known))


HOOKS = Blockscout(delegates=delegates)
