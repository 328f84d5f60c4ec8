"""Several chains behind one address: each request goes to the service of the chain that it names.

Input: a file of chains (docs/growing.md), and requests whose path, query or form names one of them.
Output: the response of that chain's service, unchanged. The gateway holds no data: limits, keys and
caches are those of the chains' services, which are told the client's address. Start with
application.py (which chain a request is for), then forwarding.py (chains, requests to them).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "several chains behind one address (scan run --chains)",
    needs=("etherscan", "sourcify", "streams"),
    commands={"gateway": "serve several chains, each with its own service, at one address"},
)
