"""One chain of transactions that fail in every way there is, and services behind nodes that lie."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from flask.testing import FlaskClient

from app import create_app
from tests.support.database import Postgres
from tests.support.faulty_node import Fault, FaultyNode, altering, refuse
from tests.support.indexing import settings_for
from tests.support.reasons import Played, play_reasons


@pytest.fixture(scope="package")
def played(postgres: Postgres, template: str) -> Iterator[Played]:
    with play_reasons(postgres, template) as found:
        yield found


def is_trace(call: dict[str, Any]) -> bool:
    return str(call["method"]).startswith(("debug_", "trace_"))


NO_TRACES = refuse(is_trace)
NO_TRACERS = refuse(lambda call: call["method"] == "debug_traceTransaction")


def answering_traces(result: str) -> Fault:
    """A node that says this, as JSON, to every request for a trace."""

    def alter(call: dict[str, Any], answer: dict[str, Any]) -> None:
        if is_trace(call):
            answer.pop("error", None)
            answer["result"] = json.loads(result)

    return altering(alter)


def client_over(played: Played, node: FaultyNode) -> FlaskClient:
    """A service of its own, which remembers nothing."""
    return create_app(settings_for(played.url, node.url)).test_client()
