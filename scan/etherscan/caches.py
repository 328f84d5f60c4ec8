"""Caches of this interface, for the lifetime of the process."""

from collections.abc import Mapping
from typing import NamedTuple, cast

from flask import current_app

from scan.ethereum.sized_cache import SizedCache

FUNCTION_NAMES_BYTES = 16 * 1024 * 1024


class Caches(NamedTuple):
    function_names: SizedCache[Mapping[str, str]]  # by verified contract


def new_caches() -> Caches:
    return Caches(SizedCache(FUNCTION_NAMES_BYTES))


def caches() -> Caches:
    return cast(Caches, current_app.extensions["scan.etherscan"])
