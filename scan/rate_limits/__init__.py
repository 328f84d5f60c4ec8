"""Moving-window limits for each API key and for each client address.

Enters: who asks. Leaves: a verdict with what is left of the window.
Start with limiter.py; client_address.py says which address a request counts for.
"""
