"""API keys and the wallets that own them.

Enters: a key's text, or a signed key request. Leaves: the key's record, or a refusal.
Start with key_lookup.py (every request passes it), then api_keys.py (text and hash),
wallet_signatures.py and contract_wallets.py (who signed), ownership.py, key_usage.py.
"""
