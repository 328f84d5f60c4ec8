"""What the rows of a list come to, by month: number, coin or tokens in and out, fees and gas.

Input: the filters of a list of an address or a token. Output: /addresses/:address/transactions/sums
and others, the same paths of pages, and a link beside each such list. Start with monthly_sums.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "sums of lists by month: coin and tokens in and out, fees, gas", needs=("internal_transfers",)
)
