"""What the rows of a list come to, by month: number, coin or tokens in and out, fees and gas.

Input: the filters of a list of an address or a token. Output: /addresses/:address/transactions/sums
and others, the same paths of pages, and a link beside each such list, by views.py.
"""
