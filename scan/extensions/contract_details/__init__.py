"""Contracts beyond verification and calls: bytecode, values, encoded calls, claims, and pages.

Input: what the core has verified, the ABI, code and the node's values. Output: records in the API,
and tabs, lists and forms on pages. Start with api.py, or with pages.py, then contract_page.py
(what a view of the tab shows), contract_functions.py (forms of functions) and source_files.py.
parquet_export.py reads the public export, for imports of contracts and of signatures.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "source, bytecode, values and calls of contracts; builds; imports of source",
    "contracts",
    needs=("compiled_sources", "decoding", "explanations", "verification_jobs"),
    paths=("verify", "verified-contracts/"),
    commands={
        "contracts": "take verified contracts over from other explorers, or write ours to a file",
        "signatures": "manage signatures of functions and events",
    },
)
