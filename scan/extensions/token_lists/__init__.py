"""Token lists (https://tokenlists.org) that operators import: names of tokens, and their logos.

Input: a list that anybody may have written, and the files that it names. Output: rows of
listed_tokens and logos, which responses show beside what contracts say of themselves.
Start with token_list.py: the form, its logos, storing a list.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "token lists and their logos, by `scan token-lists`",
    "operating",
    needs=("items",),
    commands={"token-lists": "manage token lists and their logos"},
)
