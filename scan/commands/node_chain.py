"""Which chain the nodes of RPC_URL serve, and whether it is another one by now."""

import logging
import threading
from typing import NamedTuple
from urllib.parse import urlsplit

from scan.ethereum.client import Node, NodeError
from scan.indexer.block_source import BlockSource
from scan.settings import Settings

log = logging.getLogger(__name__)

# A development node is restarted at any time; others are not worth many requests.
LOCAL_EVERY_S, REMOTE_EVERY_S = 1.0, 30.0
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1")


class NodeChain(NamedTuple):
    chain_id: int
    genesis_hash: bytes

    def __str__(self) -> str:
        return f"chain {self.chain_id} with genesis 0x{self.genesis_hash[:4].hex()}…"

    @property
    def database_name(self) -> str:
        return f"scan_{self.chain_id}_{self.genesis_hash[:4].hex()}"


def ask_chain(node: Node) -> NodeChain:
    """Raises NodeError where the node cannot tell."""
    source = BlockSource(node)
    genesis_hash = source.hash_at(0)
    if genesis_hash is None:
        raise NodeError("the node does not have its genesis block")
    return NodeChain(source.chain_id(), genesis_hash)


class ChainWatch:
    """Asks each node in a thread of its own, since one may hang, until the chain is another one.

    Several nodes count only when all that answer agree: a wrong one must not take the database.
    """

    def __init__(self, settings: Settings, database_name: str) -> None:
        self._nodes = [Node((url,), ca_bundle=settings.ca_bundle) for url in settings.rpc_urls]
        self._database_name = database_name
        hosts = {urlsplit(url).hostname for url in settings.rpc_urls}
        self._every_s = LOCAL_EVERY_S if hosts <= set(LOCAL_HOSTS) else REMOTE_EVERY_S
        self._stop = threading.Event()
        self.has_changed = threading.Event()
        threading.Thread(target=self._watch, name="chain-watch", daemon=True).start()

    def close(self) -> None:
        self._stop.set()

    def _watch(self) -> None:
        while not self._stop.wait(self._every_s) and not self.has_changed.is_set():
            chains = set(filter(None, map(_try_chain, self._nodes)))
            if len(chains) == 1 and (chain := chains.pop()).database_name != self._database_name:
                log.warning("the node at RPC_URL serves %s by now: following that", chain)
                self.has_changed.set()


def _try_chain(node: Node) -> NodeChain | None:
    try:
        return ask_chain(node)
    except NodeError:
        return None
