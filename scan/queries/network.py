"""The chain as a whole: statistics, the state of its index, activity over time."""

import json
from pathlib import Path
from typing import NamedTuple

from scan import VERSION
from scan.queries.reader import Reader
from scan.settings import Settings

_KNOWN_CHAINS: dict[str, tuple[str, str]] = json.loads(
    (Path(__file__).parent / "chains.json").read_text()
)


class Chain(NamedTuple):
    """`symbol` is the coin's; `id` is None before the first block."""

    id: int | None
    name: str
    symbol: str


def describe_chain(settings: Settings, chain_id: int | None) -> Chain:
    """What settings call it and its coin, else what is known of its id."""
    unknown = (f"Chain {chain_id}" if chain_id is not None else "", "ETH")
    name, symbol = _KNOWN_CHAINS.get(str(chain_id), unknown)
    return Chain(chain_id, settings.chain_name or name, settings.coin_symbol or symbol)


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
    number: str | None = reader.sources.database.value("queries/chain_get_id")
    return number
