"""Candles and volumes of pools in bulk backfills."""

from scan.extensions.backfill.hooks import Backfill

HOOKS = Backfill(
    derived={"pool_candles": ("bulk/pool_candles_derive", "bulk/pool_candles_copy")},
    accept=("bulk/pool_volumes_accept",),
)
