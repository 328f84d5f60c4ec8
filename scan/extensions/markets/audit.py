"""Candles of pools in `scan audit`, where older rows are removed."""

from scan.hooks import Audit

HOOKS = Audit(kept_rows={"pool_volumes": "audit/pool_candles_check"})
