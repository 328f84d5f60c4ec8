"""Calls before they are sent: what up to five of them would do, one after another, at a block.

Input: calls, a block and overrides of the state. Output: for each call its status, the reason of a
failure, its result, the calls inside, transfers, approvals and changes of the state, as for a
transaction. Start with simulated_calls.py (how a node simulates), then outcomes.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "calls simulated by the node before they are sent",
    "contracts",
    needs=("decoding", "explanations", "traces"),
    paths=("simulate",),
)
