"""A node's IPC file in place of its URL: node_sockets.py.

Input: JSON, a deadline and a bound on the answer. Output: the parsed answer.
"""

from scan.registry import Extension

EXTENSION = Extension("a node by its IPC socket, RPC_URL=/path")
