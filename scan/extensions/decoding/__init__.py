"""A transaction's input, method and logs, decoded by ABIs; names of methods in lists.

Input: an indexed transaction, the node, and ABIs of verified contracts, standards and imports.
Output: fields of GET /transactions/:hash, and on its page the call, the input and the tab of
events. Start with details.py, then decoding.py, and contract_abis.py (a contract's ABIs at a
block). What explains a transaction besides, others add by hooks.py.
"""

from scan.registry import Extension

EXTENSION = Extension("input and events of transactions decoded; methods in lists", "chain data")
