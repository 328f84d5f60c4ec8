"""The chain as a whole: statistics, the state of its index, activity over time."""

import json
from pathlib import Path

from scan import VERSION
from scan.queries.reader import Reader

# By chain id: name and symbol of the coin.
KNOWN_CHAINS: dict[str, tuple[str, str]] = json.loads(
    Path(__file__).with_name("chains.json").read_text()
)


def coin_symbol(chain_id: int | str | None, configured: str) -> str:
    """`configured` is what SCAN_COIN_SYMBOL has."""
    _, symbol = KNOWN_CHAINS.get(str(chain_id), ("", "ETH"))
    return configured or symbol


def stats(reader: Reader, chain_name: str | None = None) -> str:
    """The statistics of SPEC 4.1 as JSON text."""
    record: str
    (record,) = reader.row("queries/network_get_stats", version=VERSION, chain_name=chain_name)
    return record


def status(reader: Reader, chain_name: str | None = None) -> str:
    """What /readyz shows of the index, as JSON text."""
    record: str
    (record,) = reader.row("queries/chain_get_status", version=VERSION, chain_name=chain_name)
    return record


def activity(reader: Reader, span_s: int, spans: int) -> str:
    """[{start, blocks, transactions, gasUsed, sampled}] for spans of time, as JSON text."""
    rows: str
    (rows,) = reader.row("queries/activity_list", span_s=span_s, spans=spans)
    return rows


def chain_id(reader: Reader) -> str | None:
    """As text; None before the first block is indexed. It never changes."""
    number: str | None = reader.sources.database.prepared_value("queries/chain_get_id")
    return number
