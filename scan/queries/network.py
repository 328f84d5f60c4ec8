"""The chain as a whole: its coin, statistics, the state of its index."""

import json
from pathlib import Path
from typing import Any, NamedTuple, cast

from scan import VERSION
from scan.queries.reader import Reader

# By chain id: name and symbol of the coin, of viem's list, whose license is in chains_license.txt.
KNOWN_CHAINS: dict[str, tuple[str, str]] = json.loads(
    Path(__file__).with_name("chains.json").read_text()
)
# Their symbols as JSON for coin_symbol() of sql/schema/labels.sql.
SYMBOLS = json.dumps({chain_id: symbol for chain_id, (_, symbol) in KNOWN_CHAINS.items()})
UNNAMED = "coin"


def symbol_of(chain_id: str | None, configured: str) -> str:
    """Return the coin's symbol, of a chain that is not known UNNAMED; `configured` is what
    SCAN_COIN_SYMBOL has."""
    _, symbol = KNOWN_CHAINS.get(str(chain_id), ("", UNNAMED))
    return configured or symbol


def name_of(chain_id: str, configured: str) -> str:
    """Return the chain's name; `configured` is what SCAN_CHAIN_NAME has."""
    name, _ = KNOWN_CHAINS.get(chain_id, (f"Chain {chain_id}", ""))
    return configured or name


def coin_symbol(reader: Reader) -> str:
    return symbol_of(reader.sources.chain_id.read(), reader.sources.coin_symbol)


def stats(reader: Reader, chain_name: str | None = None) -> str:
    """Return the chain's statistics as JSON text."""
    record: str
    (record,) = reader.row("queries/network_get_stats", version=VERSION, chain_name=chain_name)
    return record


def status(reader: Reader, chain_name: str | None = None) -> str:
    """Return the state of the index as /readyz shows it, as JSON text."""
    record: str
    (record,) = reader.row("queries/chain_get_status", version=VERSION, chain_name=chain_name)
    return record


def totals(reader: Reader) -> dict[str, Any]:
    """Return totals of the chain and of its newest day; see the statement."""
    (record,) = reader.row("queries/network_get_totals")
    return cast("dict[str, Any]", json.loads(record))


class IndexedShare(NamedTuple):
    """`share` is the part of the node's blocks that are indexed, from 0 to 1."""

    share: float
    is_complete: bool


def indexed_share(reader: Reader) -> IndexedShare:
    record = json.loads(status(reader))
    head, lag = record["headBlock"] or 0, record["lagBlocks"] or 0
    is_complete = lag == 0 and record["indexedBlock"] is not None
    return IndexedShare(round(1 - lag / (head + 1), 2), is_complete)
