"""Moving-window limits for each API key and for each client address, and limits of concurrency.

Enters: who asks. Leaves: a result with what is left of the window, or a place to work in.
Start with limiter.py (what is counted), then windows.py, window_stores.py and redis_windows.py
(where), client_address.py (which address a request counts for) and concurrency.py (how much may
happen at once).
"""
