"""Downloads of Solidity compilers, by requests that need one and by `scan solc install`.

Input: a release. Output: its compiler in the folder of compilers, its digest checked. Without it,
verifications use the compilers that lie there. Start with compiler_install.py (one download), then
compilers.py (those of requests).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "downloads of Solidity compilers (scan solc)",
    commands={"solc": "manage the Solidity compilers that verification uses"},
)
