"""A Model Context Protocol server: the API's read-only operations as tools for language models.

Input: JSON-RPC messages, over HTTP at /mcp or over standard input (`scan mcp`). Output: the API's
responses as results of tools. Every call of a tool is a request to /api/v1 with the caller's
address and key, so limits, caching and errors are the API's.
Needs the packages of scan[mcp]; without them /mcp is not served.
Start with tools.py (which operations, and their schemas), then server.py and interface.py.
"""

from importlib.util import find_spec

from scan.registry import Extension


def is_installed() -> bool:
    return find_spec("mcp") is not None


EXTENSION = Extension(
    "tools for language models at /mcp and by `scan mcp`",
    "comfort",
    paths=("mcp",),
    commands={"mcp": "serve tools for language models over stdin and stdout"},
)
