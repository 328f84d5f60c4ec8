"""The chain of a database, by chain id and genesis hash, which the node has to serve."""

from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import SettingError
from scan.ethereum import client, development_nodes, served_chain
from scan.ethereum.forms.matching import require_form
from scan.indexer import block_rows, node_reader


class WrongLogs(Exception):
    """The database stores another selection of logs than SCAN_LOGS; the operator must choose."""


class StoredChain(NamedTuple):
    identity: served_chain.ChainIdentity
    start_block: int  # SCAN_START_BLOCK, or the first block of a development node's fork
    logs: str  # which logs are stored, in the words of SCAN_LOGS


def store_or_check(
    node: client.Node, database: Database, start_block: int | None, logs: str = ""
) -> StoredChain:
    """Return the chain of the database; store the node's chain if the database is empty.

    `start_block` is SCAN_START_BLOCK, None where it is not set: a fork that a development node has
    made begins then after the block that it forks, since the chain before it is another node's.
    `logs` is SCAN_LOGS, "" where it is not set. Raises WrongChain where a node serves another
    chain, WrongLogs where the database stores another selection of logs, SettingError where it
    begins at another block, or the chain's form is of an extension that is off, NodeError where the
    first node cannot be reached.
    """
    require_same_start(database, start_block)
    identity = read_identity(node)
    if database.row("indexer/chain_get") is None and read_identity(node) != identity:
        raise client.NodeError("the node gives different chain ids")
    fork_block = development_nodes.kind_of(node).forked_block if identity.is_fork else None
    after_fork = 0 if fork_block is None else fork_block + 1
    database.rows(
        "indexer/chain_insert",
        chain_id=identity.chain_id,
        genesis_hash=identity.genesis_hash,
        fork_block=fork_block,
        is_development=identity.is_development,
        start_block=after_fork if start_block is None else start_block,
        stored_logs=logs or None,
    )
    stored = check(node, database)
    assert stored is not None
    require_form(stored.identity.rules_id)
    if logs not in ("", stored.logs):
        raise WrongLogs(
            f"this database stores {stored.logs} logs since its first block, but SCAN_LOGS={logs};"
            " leave it out, run `scan rebuild logs`, or index anew into an empty database"
        )
    if stored.logs == "standard" and database.row("indexer/blocks_get_head") is None:
        database.rows("indexer/event_topics_insert", topics=block_rows.load_standard_topics())
    return stored


def require_same_start(database: Database, start_block: int | None) -> None:
    """Raise SettingError where the index has begun, at another block than SCAN_START_BLOCK."""
    fixed = database.value("indexer/chain_get_first_block")
    if None not in (fixed, start_block) and fixed != start_block:
        raise SettingError(
            "SCAN_START_BLOCK",
            str(start_block),
            f"this database is indexed from block {fixed} on; leave the variable out, or index anew"
            " into an empty database",
        )


def check(node: client.Node, database: Database) -> StoredChain | None:
    """Return the chain of the database, None if it is empty. Raises WrongChain, NodeError, as
    store_or_check() does."""
    row = database.row("indexer/chain_get")
    if row is None:
        return None
    chain_id, genesis_hash, fork_block, is_development, start_block, logs, _ = row
    identity = served_chain.ChainIdentity(
        chain_id, bytes(genesis_hash), fork_block is not None, is_development
    )
    stored = StoredChain(identity, start_block, logs)
    others = node.single_nodes()
    nodes = {"the node at RPC_URL": node}
    if len(others) > 1:
        for number, other in enumerate(others, start=1):
            nodes[f"node {number} of {len(others)} in RPC_URL"] = other
    for name, checked in nodes.items():
        try:
            identity = read_identity(checked)
        except client.NodeError as error:
            if checked is node or isinstance(error, client.WrongChain):
                raise
            continue  # this node is used only when another fails, and is then checked by its blocks
        # One wrong answer is no other chain; what program a node is was learnt with the first.
        if stored.identity[:3] not in (identity[:3], read_identity(checked)[:3]):
            raise client.WrongChain(served_chain.mismatch(stored.identity, identity, name))
    return stored


def read_identity(node: client.Node) -> served_chain.ChainIdentity:
    """Return the node's chain id and genesis hash, and whether it forks that chain. Raises
    NodeError."""
    genesis_hash = node_reader.read_genesis_hash(node)
    chain_id = node_reader.read_chain_id(node)
    if chain_id >= 2**63:
        raise client.NodeError("the node's chain id is beyond 63 bits")
    kind = development_nodes.kind_of(node)
    is_fork = kind.forked_block is not None
    return served_chain.ChainIdentity(chain_id, genesis_hash, is_fork, kind.is_development)
