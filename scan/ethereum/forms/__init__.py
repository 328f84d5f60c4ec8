"""Forms of blocks beyond Ethereum's: which fields, fees and types a chain adds.

Input: a block's JSON with its receipts. Output: the chain's own fields, parts of fees, and who got
them. A form is the part form.py of an extension, with FORMS; start with form.py here, then
matching.py (which form a block has). docs/chains.md says which chains have which form, and how to
add one.
"""
