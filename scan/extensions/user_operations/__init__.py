"""User operations (ERC-4337): their rows, lists, pages, and the calls in their bundles.

Start with rows.py (operations in a block's logs), then queries.py and calls.py (what an operation
has its account do, in the bundle's calldata).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "user operations (ERC-4337), by account, paymaster, bundler and entry point",
    "chain data",
    needs=("decoding", "traces"),
    paths=("user-operations", "user-operation/"),
)
