"""Accounts proven against a block's hash: balance, nonce, code hash and a slot of the storage.

Input: the node's proofs, verified by scan/ethereum/state_proofs.py. Output: the endpoint
/addresses/:address/proof, and beside an address's balance whether it is proven.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "balances, nonces, code hashes and slots proven against a block's hash", "chain data"
)
