"""The chain that the nodes of RPC_URL serve, and a watch that notices when it changes."""

import logging
import threading
from urllib.parse import urlsplit

from scan.ethereum.client import Node, NodeError
from scan.indexer.block_source import BlockSource
from scan.indexer.chain_identity import ChainIdentity, read_identity
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


class ChainWatch:
    """A thread that polls the nodes until they serve a different chain.

    All nodes that respond must agree, several times, so that neither one wrong node nor one wrong
    response can switch the database.
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
            chain = self._other_chain()
            if chain is not None and self._is_repeated(chain):
                log.warning("the node at RPC_URL now serves %s: switching to that chain", chain)
                self.has_changed.set()

    def _is_repeated(self, chain: ChainIdentity) -> bool:
        for _ in range(CONFIRMATIONS):
            if self._stop.wait(CONFIRM_EVERY_S) or self._other_chain() != chain:
                return False
        return True

    def _other_chain(self) -> ChainIdentity | None:
        chains = set(filter(None, map(_try_chain, self._nodes)))
        if len(chains) == 1 and database_name(chain := chains.pop()) != self._database_name:
            return chain
        return None


def _try_chain(node: Node) -> ChainIdentity | None:
    try:
        return read_identity(BlockSource(node))
    except NodeError:
        return None
