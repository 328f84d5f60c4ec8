"""contract getcontractcreation: who created a contract, in which transaction, with which code."""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from scan.errors import UpstreamFailed
from scan.ethereum.client import AnswerTooLarge, Call, RpcError
from scan.etherscan.node_calls import batch_node
from scan.etherscan.parameters import Parameters
from scan.etherscan.replies import Failure, Reply
from scan.http.requests import reader
from scan.http.services import services

MOST_CONTRACTS = 5
NO_DATA = "No data found"
TRACER = {"tracer": "callTracer"}


def contract_creations(asked: Parameters) -> Reply:
    """A contract whose creation neither a transaction nor a trace shows is left out."""
    addresses = asked.addresses("contractaddresses", MOST_CONTRACTS)
    [found] = reader().row("queries/contracts_get_creations", addresses=addresses)
    try:
        rows = [row for each in orjson.loads(found) if (row := _row(each)) is not None]
    except (RpcError, AnswerTooLarge, KeyError, TypeError):
        raise UpstreamFailed("The node does not give the transaction.") from None
    if not rows:
        raise Failure(None, NO_DATA)
    return Reply(rows)


def _row(found: Mapping[str, Any]) -> Mapping[str, str] | None:
    creation = _inside(found) if found["hash"] is None else _direct(found)
    if creation is None:
        return None
    return {
        "contractAddress": found["address"],
        "contractCreator": creation["creator"],
        "txHash": creation["hash"],
        "blockNumber": found["blockNumber"],
        "timestamp": found["timestamp"],
        "contractFactory": creation["factory"],
        "creationBytecode": creation["code"],
    }


def _direct(found: Mapping[str, Any]) -> dict[str, str] | None:
    [transaction] = batch_node([Call("eth_getTransactionByHash", (found["hash"],))])
    if not isinstance(transaction, dict) or transaction.get("blockHash") != found["blockHash"]:
        return None
    code = str(transaction["input"])
    return {"creator": found["from"], "hash": found["hash"], "factory": "", "code": code}


def _inside(found: Mapping[str, Any]) -> dict[str, str] | None:
    """By the traces of the block in which its code was first seen, where the node has them."""
    if services().settings.traces == "off":
        return None
    block = hex(int(found["blockNumber"]))
    try:
        whole, traces = batch_node(
            [
                Call("eth_getBlockByNumber", (block, True)),
                Call("debug_traceBlockByNumber", (block, TRACER)),
            ]
        )
    except (RpcError, AnswerTooLarge):
        return None
    if not isinstance(whole, dict) or whole.get("hash") != found["blockHash"]:
        return None
    for transaction, trace in zip(whole["transactions"], traces, strict=False):
        for frame in _frames(trace.get("result") if isinstance(trace, dict) else None):
            is_creation = frame.get("type") in ("CREATE", "CREATE2")
            if is_creation and str(frame.get("to")).lower() == found["address"]:
                return {
                    "creator": transaction["from"],
                    "hash": transaction["hash"],
                    "factory": str(frame["from"]).lower(),
                    "code": str(frame["input"]),
                }
    return None


def _frames(trace: Any) -> Iterator[dict[str, Any]]:
    """Of a transaction, but those in failed branches."""
    ahead = [trace]
    while ahead:
        frame = ahead.pop()
        if isinstance(frame, dict) and not frame.get("error"):
            yield frame
            ahead += frame.get("calls") or []
