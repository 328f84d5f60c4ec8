"""The Blockscout-compatible API (v2) at /api/v2, for clients that were written for Blockscout.

Input: a path below /api/v2, and in the query string filters and the position of a page's last row.
Output: JSON in Blockscout's form: objects with addresses in full, lists as items and
next_page_params. Start with interface.py (the modules with routes), then paths.py (parameters
and pages) and objects.toml (fields under Blockscout's names); *_objects.py make objects of records.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the Blockscout-compatible API at /api/v2",
    "compatible interfaces",
    needs=tuple(
        """
            chain_statistics decoding explanations logs search traces verification_jobs
        """.split()
    ),
    paths=("stats-service/",),
)
