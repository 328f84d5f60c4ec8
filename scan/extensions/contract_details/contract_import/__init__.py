"""The import of verified contracts from other explorers, and the export of ours.

Input: addresses, and their records at Blockscout, Sourcify, Etherscan or in a file of an export; or
the public export of Sourcify's repository. Output: verifications by our own comparison, and claims
for contracts that cannot be compiled here, or are later. Start with importer.py (the file of an
export, too), then source_records.py (the forms of the sources) and source_client.py (requests to a
source); for the public export with exported_claims.py, then exported_sources.py (compilations).
"""
