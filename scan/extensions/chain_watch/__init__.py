"""A watch of the chain that the nodes serve: `scan run` switches to another chain's database.

Input: the nodes of RPC_URL, and the name of the database in use. Output: an event that is set when
they serve another chain, as a development node does that was started anew. Start with
chain_watch.py.
"""

from scan.registry import Extension

EXTENSION = Extension("`scan run` follows a development node that begins another chain")
