"""What other extensions add to the Etherscan-compatible API, in their etherscan.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scan.extensions.etherscan.replies import Parameters, Reply

from scan.registry import Part


class Etherscan(Part, module="etherscan"):
    """The Etherscan-compatible API."""

    actions: Mapping[tuple[str, str], Callable[[Parameters], Reply]]
    """Actions by module and name, before those of the API's own."""
