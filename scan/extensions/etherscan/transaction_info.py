"""module=transaction, action=gettxinfo: a transaction with a page of its logs."""

from datetime import datetime

import orjson

from scan.errors import UpstreamFailed
from scan.ethereum.blocks import MAX_TOPICS
from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply
from scan.extensions.transaction_details import queries as transaction_details
from scan.extensions.transaction_details.details import NO_LOGS, LogWindow
from scan.extensions.transaction_details.explanations import queries as explanations
from scan.hex import to_hex
from scan.http.requests import reader
from scan.queries import transactions

MOST_LOGS = 50
NOT_INDEXED = "Transaction not found"


def transaction_info(parameters: Parameters) -> Reply:
    """Return a transaction with the logs after `index`; `next_page_params` has the next `index`."""
    body = transactions.get(reader(), parameters.hash32("txhash"))
    if body is None:
        raise Failure(NOT_INDEXED)
    record = orjson.loads(body)
    details = transaction_details.details(reader(), record, NO_LOGS)
    if details.input is None or details.logs is None:
        raise UpstreamFailed(details.unavailable or "The node does not give this transaction.")
    after = parameters.integer("index", -1)
    logs = LogWindow(after, MOST_LOGS + 1).of(details.logs)
    failure = explanations.failure(reader(), record)
    reason = None if failure is None else failure.reason.data
    following = {"index": logs[MOST_LOGS - 1].log_index} if len(logs) > MOST_LOGS else None
    return Reply(
        {
            **renamed("transaction", record),
            "timeStamp": str(_seconds(record["timestamp"])),
            "to": record["toAddress"] or "",
            "input": to_hex(details.input),
            "gasLimit": str(details.gas_limit),
            "logs": [
                {
                    "address": to_hex(log.address),
                    "topics": [
                        to_hex(log.topics[index]) if index < len(log.topics) else None
                        for index in range(MAX_TOPICS)
                    ],
                    "data": to_hex(log.data),
                    "index": str(log.log_index),
                }
                for log in logs[:MOST_LOGS]
            ],
            "revertReason": to_hex(reason) if reason else "",
            "next_page_params": following,
        }
    )


def _seconds(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())
