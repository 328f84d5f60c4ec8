"""What contracts move and create inside transactions, and the calls of a transaction, by traces.

Input: a node's traces: debug_trace*, trace_*, or the steps of debug_traceTransaction; logs of coin.
Output: internal transfers and created contracts of blocks to index, their lists in the API and on
pages, and a transaction's trace for others to decode. Start with block_traces.py (blocks to index),
then traces.py (frames), transaction_traces.py (one transaction's, for requests) and views.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "internal transfers, contracts that contracts created, and traces of calls",
    "chain data",
    paths=("internal-transfers",),
)
