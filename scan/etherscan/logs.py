"""module=logs: getLogs, from the table where logs are stored, else from the node."""

from scan.errors import UpstreamFailed
from scan.ethereum.log_filter import TOPICS, LogFilter, having
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, Reply, rows_reply
from scan.http.requests import reader
from scan.queries import blocks
from scan.queries import logs as log_queries
from scan.queries.node_logs import ANOTHER_CHAIN, BlockSpan, TooManyLogs
from scan.queries.pages import Window

MOST_ROWS = 1000
NO_LOGS = "No records found"
TOO_MUCH = "Query Timeout occurred. Please select a smaller result dataset"


def get_logs(asked: Parameters) -> Reply:
    wanted = _filter(asked)
    if wanted.address is None and not any(wanted.topics):
        raise Failure("Error! Missing address or topics")
    limit, offset = asked.page(MOST_ROWS)
    first, last = _span(asked)
    try:
        found, _ = log_queries.records_and_total(
            reader(), Window(limit, offset, "asc", first, last), wanted
        )
    except TooManyLogs:
        raise Failure(TOO_MUCH) from None
    return rows_reply(_rows(found) if found else [], NO_LOGS)


def _filter(asked: Parameters) -> LogFilter:
    """An operator stands between a topic and the nearest one given before it; `and` if missing."""
    given = [place for place in range(TOPICS) if asked.text(f"topic{place}")]
    joined = []
    for number, place in enumerate(given):
        names = [f"topic{earlier}_{place}_opr" for earlier in reversed(given[:number])]
        operator = next((asked.text(name).lower() for name in names if asked.text(name)), "and")
        if operator not in ("and", "or"):
            raise Failure("Error! Invalid topic operator: and or or")
        joined.append((place, operator == "and"))
    topics = [asked.hash32(f"topic{place}") if place in given else None for place in range(TOPICS)]
    return having(asked.optional_address("address"), topics, joined)


def _span(asked: Parameters) -> BlockSpan:
    if asked.text("fromblock").lower() != "latest":
        return asked.blocks("fromblock", "toblock")
    newest = blocks.newest_number(reader()) or 0
    return BlockSpan(newest, newest)


def _rows(found: list[log_queries.Record]) -> list[object]:
    places = log_queries.transactions_of(
        reader(), [(log["blockNumber"], log["transactionIndex"]) for log in found]
    )
    return [_row(log, place) for log, place in zip(found, places, strict=True)]


def _row(log: log_queries.Record, transaction: log_queries.Record) -> object:
    """Raises UpstreamFailed where its block was reorganised away meanwhile."""
    if transaction["hash"] != log["transactionHash"]:
        raise UpstreamFailed(ANOTHER_CHAIN)
    return {
        "address": log["address"],
        "topics": log["topics"],
        "data": log["data"],
        "blockNumber": hex(log["blockNumber"]),
        "blockHash": transaction["blockHash"],
        "timeStamp": hex(transaction["seconds"]),
        "gasPrice": hex(int(transaction["gasPrice"])),
        "gasUsed": hex(int(transaction["gasUsed"])),
        "logIndex": hex(log["logIndex"]),
        "transactionHash": log["transactionHash"],
        "transactionIndex": hex(log["transactionIndex"]),
    }
