"""API keys and the wallets that own them.

Enters: a key's text, or a signed key request. Leaves: the key's record, or a refusal.
Start with key_lookup.py (every request passes it), then api_keys.py (text, hash, creation and
limits), key_requests.py (the message to sign, and who signed it), wallet_signatures.py and
contract_wallets.py (the two kinds of signatures), owner_authorization.py (who may act for an
address), key_usage.py.
"""
