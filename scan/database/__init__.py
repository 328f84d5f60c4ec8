"""PostgreSQL: the only package that imports psycopg2.

Input: the name of a statement in sql/ and its parameters. Output: rows, or a ScanError.
Start with connection.py (one connection for each thread), then statements.py (how sql/ is
loaded), notifications.py (LISTEN), migrations.py (schema.sql and migrations/) and embedded.py
(PostgreSQL from a wheel).
"""
