"""Takes verified contracts over from other explorers, and writes ours for another.

Input: addresses, and what Blockscout, Sourcify, Etherscan or a file of an export says of them.
Output: verifications by our own comparison, and claims for what cannot be compiled here. Start with
importer.py, then source_records.py (the forms of the sources) and source_client.py (how a source is
asked), and contract_file.py (the file of an export).
"""
