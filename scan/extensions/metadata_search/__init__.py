"""The search for the metadata file of a deployed contract, by which a partial match becomes full.

Input: the metadata of a compilation with equal code, and the hash in the deployed code. Output: the
variant with that hash. Without it, a source that was submitted without its path is mostly a partial
match. Start with metadata_search.py, then metadata_hash.py (the compiler's hashes of a file).
"""

from scan.registry import Extension

EXTENSION = Extension("full matches of sources that are submitted without their path or settings")
