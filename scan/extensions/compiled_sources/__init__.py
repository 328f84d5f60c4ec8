"""What compilers say of the code of verified contracts besides what is compared: source maps,
layouts of the storage, and the functions that calls run, in one row a code.

Input: compilers' output and syntax trees when a contract is verified; addresses, creations and
offsets of instructions later. Output: layouts, and places in sources. Start with
compiler_findings.py, which stores, then compiler_layouts.py (what is stored of trees),
creation_codes.py, and source_maps.py with mapped_code.py (from an offset to a line).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "what compilers say of verified contracts: source maps, layouts of the storage", "contracts"
)
