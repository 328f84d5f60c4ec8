"""A Flask view that runs the service's statement by psycopg2 and returns its JSON; nothing else.

On the same gunicorn settings, prepared, on a connection for each thread. BENCH_FILES names a
folder; /<name>/<number> answers with the statement in that line of its file of that name, which
holds, as Python literals: the statement's name, its values by name, what comes before the JSON in
the body, the column that holds the JSON, and what comes after it.
"""

import ast
import os
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import psycopg2
from flask import Flask, Response, request

from scan.database.statements import Prepared, Statement, prepare, read_statement

# As the service's connections have them: a prepared plan is made once, and follows an index.
SESSION = {
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_bitmapscan": "off",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
}

app = Flask(__name__, static_folder=None)


class PlainRequest(NamedTuple):
    statement: Statement
    params: dict[str, object]
    plan: Sequence[object]  # the statement's name, and its literals
    values: Sequence[object]  # of the other parameters
    head: bytes
    column: int
    tail: bytes


_local = threading.local()


@cache
def _requests(name: str) -> list[PlainRequest]:
    path = Path(os.environ["BENCH_FILES"]) / name
    return [_request(*ast.literal_eval(line)) for line in path.read_text().splitlines()]


def _request(name: str, params: dict[str, object], *body: Any) -> PlainRequest:
    statement = read_statement(name)
    literals = statement.literals or frozenset()
    statement = statement._replace(literals=literals)
    plan = (name, *(params[literal] for literal in sorted(literals)))
    values = [value for param, value in params.items() if param not in literals]
    return PlainRequest(statement, params, plan, values, *body)


@app.get("/healthz")
def alive() -> str:
    return "alive"


@app.route("/<name>/<int:number>", methods=["GET", "POST"])
def answer(name: str, number: int) -> Response:
    request.get_data(cache=False)
    plain = _requests(name)[number]
    json = _row(plain)[plain.column]
    return Response(plain.head + json.encode() + plain.tail, mimetype="application/json")


def _row(plain: PlainRequest) -> Any:
    if not hasattr(_local, "connection"):
        options = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
        _local.connection = psycopg2.connect(os.environ["DATABASE_URL"], options=options)
        _local.connection.autocommit = True
        _local.prepared = {}
    of_thread: dict[Sequence[object], Prepared] = _local.prepared
    with _local.connection.cursor() as cursor:
        prepared = of_thread.get(plain.plan)
        if prepared is None:
            prepared = prepare(cursor, plain.statement, plain.params, f"s{len(of_thread)}")
            of_thread[plain.plan] = prepared
        cursor.execute(prepared.execute, plain.values)
        return cursor.fetchone()
