"""gunicorn's side of a request: connections, bytes received and sent, and the worker's loop.

Input: sockets. Output: a WSGI environ for the application, and its response in bytes. Nothing here
knows what the application serves.
Start with worker.py (the loop: requests and responses), then connection_limits.py and
connection.py (one client, without any waiting).
"""
