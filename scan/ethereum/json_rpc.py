"""Calls and answers of JSON-RPC 2.0, single and in batches."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import orjson

from scan.ethereum.node_errors import BatchRefused, NodeError, RateLimited, RpcError
from scan.observability import metrics


class Call(NamedTuple):
    """A JSON-RPC call. Its parameters may have a BlockId, which is written as the node takes it:
    see block_parameter.py."""

    method: str
    params: Sequence[object]


def request_body(calls: Sequence[Call]) -> bytes:
    """Return calls, numbered by their places, as JSON."""
    requests_ = [
        {"jsonrpc": "2.0", "id": number, "method": call.method, "params": list(call.params)}
        for number, call in enumerate(calls)
    ]
    return orjson.dumps(requests_ if len(calls) > 1 else requests_[0])


def results_of(answer: Any, count: int) -> list[Any]:
    """Return the results of `count` calls, an RpcError in the place of each that failed. Raises
    BatchRefused, RateLimited, NodeError."""
    if count == 1 and isinstance(answer, list) and len(answer) == 1:
        [answer] = answer
    if count == 1 and isinstance(answer, dict):
        return [_result(answer)]
    if isinstance(answer, dict) and isinstance(answer.get("error"), dict):
        error = _rpc_error(answer["error"])
        raise BatchRefused(f"the node rejected a batch of {count} calls: {error.message}")
    if not isinstance(answer, list):
        raise BatchRefused("the node's response to a batch is not a list")
    by_id = {
        item["id"]: item
        for item in answer
        if isinstance(item, dict) and type(item.get("id")) is int
    }
    if any(number not in by_id for number in range(count)):
        raise BatchRefused("the node did not respond to all calls of a batch")
    if len(answer) != count:
        raise BatchRefused(f"the node returned {len(answer)} responses to {count} calls")
    refusals = [_rpc_error(item["error"]) for item in by_id.values() if item.get("error")]
    for refusal in refusals if count > 1 else []:
        # geth answers what fits into 25 MB and "response too large" for the rest.
        if refusal.is_too_much:
            raise BatchRefused(f"the node rejected calls of a batch of {count}: {refusal.message}")
    return [_result(by_id[number]) for number in range(count)]


def _result(answer: dict[str, Any]) -> Any:
    if answer.get("error") is not None:
        error = _rpc_error(answer["error"])
        if error.is_rate_limit:
            raise RateLimited(f"the node's rate limit is exceeded: {error.message}")
        metrics.count_rpc_error()
        return error
    if "result" not in answer:
        raise NodeError("the node's response has neither result nor error")
    return answer["result"]


def _rpc_error(error: Any) -> RpcError:
    if not isinstance(error, dict):
        return RpcError(0, _clean(str(error)[:200]))
    code = error.get("code")
    message = _clean(str(error.get("message"))[:500])
    return RpcError(code if isinstance(code, int) else 0, message, error.get("data"))


def _clean(text: str) -> str:
    """Return the text with NUL, which PostgreSQL cannot hold, and halves of surrogate pairs, which
    UTF-8 cannot, replaced."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode()
