"""Verification in the background: a client submits a job and polls for its result.

Input: bodies of /api/v1/verify, from the forms of Etherscan and Sourcify and from kept sources.
Output: jobs with their results, kept for a day. Start with jobs.py.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "verification in the background, for clients that poll for its result", "contracts"
)
