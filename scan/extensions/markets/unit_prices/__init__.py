"""Unit prices: the worth of a coin and of tokens in a currency, where an operator gives prices.

Input: SCAN_PRICES, a JSON file, an https URL, or a pool of the chain. Output: prices with their
source and time, for pages and for GET /api/v1/prices; no amount of the chain depends on them.
Start with price_source.py (file, URL or pool; the document's form and bounds), then pool_prices.py
(prices that follow by pools) and day_prices.py (what was worth how much on a past day).
"""
