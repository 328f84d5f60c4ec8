"""Memos: texts that transactions carry in place of a call, found by their whole text.

Input: decoded blocks. Output: rows, /memos in the API and as a page, results of searches. Start
with rows.py (which inputs are memos); what a text is says scan/ethereum/display_text.py.
"""

from scan.registry import Extension

EXTENSION = Extension("memos: texts that transactions carry, found by search", paths=("memos",))
