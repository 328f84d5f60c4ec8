"""What other extensions add to the decoder, in their decoder.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scan.registry import Part


@dataclass(frozen=True, kw_only=True)
class Decoder(Part):
    """The decoder of calldata."""

    module = "decoder"
    calls: Mapping[str, Callable[..., Sequence[tuple[Any, ...]]]]
    """What reads the calls in the arguments of a function, by its signature."""
