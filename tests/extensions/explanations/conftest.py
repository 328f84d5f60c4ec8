"""One chain of transactions that fail in every way there is, and services behind nodes that lie."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.support.database import Postgres
from tests.support.faulty_node import Calls, Fault, FaultyNode, Forward, Reply
from tests.support.indexing import settings_for
from tests.support.reasons import Played, play_reasons


@pytest.fixture(scope="package")
def played(postgres: Postgres, template: str) -> Iterator[Played]:
    with play_reasons(postgres, template) as found:
        yield found


def is_trace(call: dict[str, Any]) -> bool:
    return str(call["method"]).startswith(("debug_", "trace_"))


def refusing(is_refused: Callable[[dict[str, Any]], bool] = is_trace) -> Fault:
    """A node that does not know some methods."""

    def reply(calls: Calls, forward: Forward) -> Reply:
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            if is_refused(call):
                answer.pop("result", None)
                answer["error"] = {"code": -32601, "message": f"{call['method']} does not exist"}
        return Reply(body=answers)

    return reply


def answering_traces(result: str) -> Fault:
    """A node that says this, as JSON, to every request for a trace."""

    def reply(calls: Calls, forward: Forward) -> Reply:
        texts = [
            f'{{"jsonrpc":"2.0","id":{answer["id"]},"result":{result}}}'
            if is_trace(call)
            else json.dumps(answer)
            for call, answer in zip(calls, forward(calls), strict=True)
        ]
        return Reply(raw=f"[{','.join(texts)}]".encode() if len(texts) > 1 else texts[0].encode())

    return reply


def client_over(played: Played, node: FaultyNode) -> FlaskClient:
    """A service of its own, which remembers nothing."""
    return create_app(settings_for(played.url, node.url)).test_client()
