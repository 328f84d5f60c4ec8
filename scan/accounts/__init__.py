"""API keys and the wallets that own them.

Input: a key's text, or a signed key request. Output: the key's record, or an error.
Start with key_lookup.py (used by every request), then api_keys.py (text, hash, creation and
limits), signed_key_requests.py (the message to sign, and its signer), wallet_signatures.py (plain
and contract wallets), owner_authorization.py (who may act for an address), key_usage.py.
"""
