"""All contracts whose runtime code is equal.

Input: the code's hash in the index. Output: the list /contracts/:address/same-code and a tab of the
contract. Start with comparison.py of the folder above.
"""
