"""Queries of chain data, which all interfaces use.

Input: a Reader, a filter and a Window, already checked. Output: a Page of JSON that
PostgreSQL made, or one record; NotFound and Unavailable where there is none.
Start with reader.py (the reads of one request), then list_pages.py and
filtered_pages.py; every entity has a module of its own.
"""
