"""Moving-window limits per API key and per client address.

Input: the key and the client address. Output: whether the request is allowed and what is left.
Start with client_address.py and limiter.py (the rates), then window_storage.py (the windows of a
request, where they are counted, what a response says of them).
"""
