"""Pages of contracts: source files, functions to call, values, bytecode, the form of verification.

Input: what the core has verified, the ABI, and the node's values. Output: tabs of an address's
page, and lists and forms of their own. Start with pages.py, then contract_source.py (what a view of
the tab shows), contract_functions.py (forms of functions) and source_files.py.
"""

from scan.registry import Extension

EXTENSION = Extension("source, functions, values and bytecode of contracts on pages")
