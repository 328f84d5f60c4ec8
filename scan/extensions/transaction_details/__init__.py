"""A transaction's input, method and logs, decoded by ABIs; names of methods in lists.

Input: an indexed transaction, the node, and ABIs of verified contracts, standards and imports.
Output: fields of GET /transactions/:hash, and on its page the call, the input and the tab of
events. Start with details.py, then decoding.py, and contract_abis.py (a contract's ABIs at a
block).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "transactions decoded and explained: input, events, calls, changes of state; pending ones",
    needs=("internal_transfers", "proofs"),
)
