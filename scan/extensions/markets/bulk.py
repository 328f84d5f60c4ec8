"""Candles and volumes of pools in bulk backfills."""

DERIVED = {"pool_candles": "bulk/pool_candles_derive"}
COPY = {"pool_candles": "bulk/pool_candles_copy"}
ACCEPT = ("bulk/pool_volumes_accept",)
