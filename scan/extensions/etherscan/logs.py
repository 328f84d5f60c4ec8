"""module=logs: getLogs, from the database if logs are stored, otherwise from the node."""

from scan.errors import UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply, rows_reply
from scan.extensions.logs import queries as logs
from scan.extensions.logs.log_filter import LogFilter, having
from scan.extensions.logs.node_logs import ANOTHER_CHAIN, TooManyLogs
from scan.http.requests import reader
from scan.queries import blocks
from scan.queries.pages import Window

MOST_ROWS = 1000  # per page
NO_LOGS = "No records found"
TOO_MUCH = "Query Timeout occurred. Please select a smaller result dataset"


def get_logs(parameters: Parameters) -> Reply:
    log_filter = _filter(parameters)
    if log_filter.address is None and not any(log_filter.topics):
        raise Failure("Error! Missing address or topics")
    limit, offset = parameters.limit_and_offset(MOST_ROWS)
    if parameters.text("fromblock").lower() == "latest":
        first = last = blocks.newest_number(reader()) or 0
    else:
        first, last = parameters.first_block("fromblock"), parameters.last_block("toblock")
    window = Window(limit, offset, "asc", first, last)
    try:
        records = logs.records(reader(), window, log_filter).records
    except TooManyLogs:
        raise Failure(TOO_MUCH) from None
    rows = _rows(records) if records else []
    return rows_reply(rows, NO_LOGS, kept_from=reader().kept_from)


def _filter(parameters: Parameters) -> LogFilter:
    """Return the filter, in which an operator (`and` by default) joins a topic with the nearest
    preceding one that is given."""
    given = [index for index in range(MAX_TOPICS) if parameters.text(f"topic{index}")]
    joined = []
    for number, index in enumerate(given):
        names = [f"topic{earlier}_{index}_opr" for earlier in reversed(given[:number])]
        operators = [parameters.text(name).lower() for name in names if parameters.text(name)]
        operator = operators[0] if operators else "and"
        if operator not in ("and", "or"):
            raise Failure("Error! Invalid topic operator: and or or")
        joined.append((index, operator == "and"))
    topics = [
        parameters.hash32(f"topic{index}") if index in given else None
        for index in range(MAX_TOPICS)
    ]
    return having(parameters.optional_address("address"), topics, joined)


def _rows(records: list[logs.Record]) -> list[object]:
    """Return the logs in Etherscan's form; raises UpstreamFailed if a block was removed by a
    reorg in the meantime."""
    transactions = logs.transactions_at(
        reader(), [(log["blockNumber"], log["transactionIndex"]) for log in records]
    )
    rows: list[object] = []
    for log, transaction in zip(records, transactions, strict=True):
        if transaction["hash"] != log["transactionHash"]:
            raise UpstreamFailed(ANOTHER_CHAIN)
        rows.append(renamed("log", transaction | log))
    return rows
