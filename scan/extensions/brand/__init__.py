"""The operator's brand on the pages: the file of SCAN_BRAND.

Input: a TOML file, with the files that it names. Output: a Brand, or why the start is refused.
Start with settings.py.
"""

from scan.registry import Extension

EXTENSION = Extension("the operator's name, logo, colours and links on the pages", "comfort")
