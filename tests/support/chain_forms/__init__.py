"""Chains in the form of other chains' nodes, made here by their documentation.

made_chain.py makes blocks, receipts, traces and the state after each block, as lines of a recording
that demo_node.py of the extension demo replays; rollups.py and others.py have a function for each
form. Nothing here imports scan: hashes, roots and balances are computed once more.
`python -m scan.extensions.demo.tests.replaying NAME` serves one, for RPC_URL.
"""
