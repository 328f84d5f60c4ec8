"""Questions about the chain are answered here alone, whichever interface they come from.

Input: a Reader, a filter and a Window, already checked. Output: a Page of JSON that
PostgreSQL made, or one record; NotFound and Unavailable where there is none.
Start with reader.py (what one request reads), then pages.py and transactions.py; every entity has
a module of its own.
"""
