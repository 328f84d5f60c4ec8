"""Statistics of the chain: by day, of gas, its largest transfers, and charts of them.

Input: the core's daily_stats and the newest blocks. Output: /stats/daily, /stats/largest-transfers,
/gas, their pages, the charts of the home page and of tokens. Start with
statistics.py, then gas_prices.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "statistics by day, gas prices, largest transfers", "chain data", paths=("charts", "gas")
)
