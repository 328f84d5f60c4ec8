"""Moving-window limits per API key and per client address, and limits of concurrency.

Input: the key and the client address. Output: whether the request is allowed and what is left.
Start with limiter.py (the rates), then windows.py
(the windows of a request, where they are counted, and what a response says of them), concurrency.py
and turns.py (requests that wait without a thread).
"""
