"""The Sourcify-compatible API, version 2: verified contracts and verification.

Input: requests below /v2/contract, /v2/verify, /chains and /server. Output: records and errors in
Sourcify's form; verification jobs for scan/verification.
Start with interface.py (endpoints, verification requests), then contract_record.py (contracts) and
fields.py (errors, too).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "the Sourcify-compatible API at /v2 and /server",
    "compatible interfaces",
    needs=("compiled_sources", "verification_jobs"),
    paths=("chains", "repo-ui/", "server/", "v2/"),
)
