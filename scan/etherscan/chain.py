"""module=block, transaction, token and stats."""

import orjson

from scan.errors import NotFound
from scan.etherscan.account import NO_DATA
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, Reply, rows_reply
from scan.http.requests import reader
from scan.queries import blocks, tokens, transactions

LATEST_S = 9_000_000_000_000  # what PostgreSQL's timestamptz can hold
NO_SUCH_BLOCK = "Error! No closest block found"


def block_by_time(asked: Parameters) -> Reply:
    asked.required("timestamp")
    closest = asked.text("closest", "before").lower()
    if closest not in ("before", "after"):
        raise Failure("Error! Invalid closest: before or after")
    time_s = min(asked.integer("timestamp", 0), LATEST_S)
    before, after = blocks.nearest(reader(), time_s)
    number = before if closest == "before" else after
    if number is None:
        raise Failure(NO_SUCH_BLOCK)
    return Reply(str(number))


def receipt_status(asked: Parameters) -> Reply:
    """Its status is empty where the transaction is not indexed."""
    status = _status(asked)
    return Reply({"status": "" if status is None else str(int(status))})


def execution_status(asked: Parameters) -> Reply:
    status = _status(asked)
    if status is None:
        raise Failure("Error! No such transaction is indexed")
    return Reply({"isError": str(int(not status)), "errDescription": ""})


def token(asked: Parameters) -> Reply:
    record, _ = reader().row(
        "queries/etherscan_tokens_get", address=asked.address("contractaddress")
    )
    return rows_reply([] if record is None else [orjson.loads(record)], NO_DATA)


def token_holder_count(asked: Parameters) -> Reply:
    _, count = reader().row(
        "queries/etherscan_tokens_get", address=asked.address("contractaddress")
    )
    return Reply(str(count or 0))


def token_holders(asked: Parameters) -> Reply:
    limit, offset = asked.page()
    address = asked.address("contractaddress")
    try:
        page = tokens.holders(reader(), address, limit, offset)
    except NotFound:
        return rows_reply([], NO_DATA, 0)
    rows = [
        {"TokenHolderAddress": each["address"], "TokenHolderQuantity": each["balance"]}
        for each in orjson.loads(page.data)
    ]
    return rows_reply(rows, NO_DATA, page.total)


def _status(asked: Parameters) -> bool | None:
    return transactions.status(reader(), asked.hash32("txhash"))
