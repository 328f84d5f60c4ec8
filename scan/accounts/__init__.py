"""API keys and the wallets that own them.

Input: a key's text, or a signed key request. Output: the key's record, or an error.
Start with api_keys.py (text, hash, creation, the lookup of every request, counts of use), then
wallet_signatures.py (the message to sign and its signer, plain and contract wallets, who may act
for an address).
"""
