"""The demo chain, and recordings of a node's answers (scan doctor --record, scan run --recording).

Input: demo/chain.jsonl.gz, or a file that `scan doctor --record` wrote. Output: a node on loopback
that answers from it; of the demo chain, with new blocks every few seconds.
Start with replay.py (the file's blocks and state), then demo_node.py (the node, accounts and their
proofs), demo_chain.py (its new blocks), demo_run.py (labels and contracts of the demo),
chain_recording.py (writing a file).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the demo chain, and recordings of a node (scan doctor --record)",
    "operating",
    needs=("explanations", "labels", "traces"),
)
