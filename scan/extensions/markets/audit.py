"""Candles of pools in `scan audit`, where older rows are removed."""

CHECKS_OF_KEPT_ROWS = ("audit/pool_candles_check",)
OF_KEPT_ROWS = ("pool_volumes",)  # compared row by row with the stored candles
