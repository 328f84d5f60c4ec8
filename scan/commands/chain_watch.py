"""A watch that notices when the nodes of RPC_URL serve another chain."""

import logging
import threading
from collections.abc import Sequence
from urllib.parse import urlsplit

from scan.ethereum.client import Node, NodeError
from scan.ethereum.served_chain import ChainIdentity
from scan.indexer.block_source import BlockSource
from scan.indexer.chain_identity import read_identity
from scan.settings import Settings

log = logging.getLogger(__name__)

# Development nodes are restarted often; for other nodes fewer requests are enough.
LOCAL_EVERY_S, REMOTE_EVERY_S = 1.0, 30.0
CONFIRMATIONS, CONFIRM_EVERY_S = 3, 0.2  # reads before a switch, which ends all requests
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", None)  # None: an IPC socket


def database_name(chain: ChainIdentity) -> str:
    """Return the name of a chain's database, with the genesis hash: chains with the same id differ
    in it."""
    return f"scan_{chain.chain_id}_{chain.genesis_hash[:4].hex()}"


def watch(settings: Settings, name: str, over: threading.Event) -> None:
    """Poll the nodes until they serve a chain with another database than `name`, and set `over`
    then; end when it is set.

    All nodes that respond must agree, several times, so that neither one wrong node nor one wrong
    response can switch the database.
    """
    nodes = [Node((url,), ca_bundle=settings.ca_bundle) for url in settings.rpc_urls]
    hosts = {urlsplit(url).hostname for url in settings.rpc_urls}
    every_s = LOCAL_EVERY_S if hosts <= set(LOCAL_HOSTS) else REMOTE_EVERY_S
    while not over.wait(every_s):
        chain = _other_chain(nodes, name)
        if chain is not None and all(
            not over.wait(CONFIRM_EVERY_S) and _other_chain(nodes, name) == chain
            for _ in range(CONFIRMATIONS)
        ):
            log.warning("the node at RPC_URL now serves %s: switching to that chain", chain)
            over.set()


def _other_chain(nodes: Sequence[Node], name: str) -> ChainIdentity | None:
    chains = set(filter(None, map(_try_chain, nodes)))
    if len(chains) == 1 and database_name(chain := chains.pop()) != name:
        return chain
    return None


def _try_chain(node: Node) -> ChainIdentity | None:
    try:
        return read_identity(BlockSource(node))
    except NodeError:
        return None
