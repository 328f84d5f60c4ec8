"""Markets: pools of exchanges with their candles, volumes and prices, by trades.

Input: the core's trades and pools, of which candles by the hour are derived. Output: pools, candles
and volumes in the API, on pages and in files. Start with derived.py (candles follow their
trades), then queries.py (candles of any span).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "pools of exchanges: candles, volumes; unit prices that the operator gives (SCAN_PRICES)",
    "chain data",
    paths=("dex", "pool/"),
)
