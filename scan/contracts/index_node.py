"""The node of an index, which has to serve the chain that is indexed."""

from contextlib import closing
from functools import partial

from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.served_chain import ChainIdentity, ServedChain
from scan.settings import Settings

STATEMENT_TIMEOUT_MS = 5000


def node_of_index(settings: Settings, database_url: str = "") -> Node:
    """Return the node of RPC_URL, which refuses to be one of another chain than the database has:
    DATABASE_URL by default."""
    expected = partial(stored_identity, database_url or settings.database_url)
    chain = ServedChain(settings.rpc_urls, expected)
    return Node(settings.rpc_urls, ca_bundle=settings.ca_bundle, chain=chain)


def stored_identity(database_url: str) -> ChainIdentity | None:
    """Return the indexed chain, None where nothing is indexed, by a connection of its own."""
    with closing(
        Database(database_url, statement_timeout_ms=STATEMENT_TIMEOUT_MS, name="scan-chain")
    ) as database:
        row = database.row("contracts/chain_get_identity")
    return None if row is None else ChainIdentity(int(row[0]), bytes(row[1]))
