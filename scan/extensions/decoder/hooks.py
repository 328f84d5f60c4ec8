"""What other extensions add to the decoder, in their decoder.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from scan.registry import Part


class Decoder(Part, module="decoder"):
    """The decoder of calldata."""

    calls: Mapping[str, Callable[..., Sequence[tuple[Any, ...]]]]
    """What reads the calls in the arguments of a function, by its signature."""
