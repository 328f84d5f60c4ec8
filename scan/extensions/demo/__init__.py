"""The demo chain.

Input: demo/chain.jsonl.gz, which demo/record.py writes. Output: a node on loopback that answers
from it, with new blocks every few seconds. Start with replay.py (the file's blocks and state), then
demo_node.py (the node, accounts and their proofs), demo_chain.py (its new blocks), demo_run.py
(labels and contracts of the demo).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the demo chain, which `scan run` shows without a node",
    "operating",
    needs=("compiled_sources", "explanations", "labels", "traces"),
)
