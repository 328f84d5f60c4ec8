"""A Flask view that runs the service's statement by psycopg2 and returns its JSON; nothing else.

On the same gunicorn settings, prepared, on a connection for each thread. BENCH_FILES names a
folder; /<name>/<number> answers with the statement in that line of its file of that name, which
holds, as Python literals: the statement's name, its values by name, what comes before the JSON in
the body, the column that holds the JSON, and what comes after it.
"""

import ast
import os
import threading
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import psycopg2
from flask import Flask, Response, request

from bench.numbered_statements import SESSION, NumberedStatements

STATEMENTS = NumberedStatements()

app = Flask(__name__, static_folder=None)


class PlainRequest(NamedTuple):
    text: str
    values: list[object]
    head: bytes
    column: int
    tail: bytes


class ThreadConnection(NamedTuple):
    connection: Any
    prepared: dict[str, str]  # names of prepared statements by their text


_local = threading.local()


@cache
def _requests(name: str) -> list[PlainRequest]:
    path = Path(os.environ["BENCH_FILES"]) / name
    return [_request(*ast.literal_eval(line)) for line in path.read_text().splitlines()]


def _request(
    statement: str, params: dict[str, object], head: bytes, column: int, tail: bytes
) -> PlainRequest:
    text, names = STATEMENTS.find(statement, params)
    return PlainRequest(text, [params[name] for name in names], head, column, tail)


@app.get("/healthz")
def alive() -> str:
    return "alive"


@app.route("/<name>/<int:number>", methods=["GET", "POST"])
def answer(name: str, number: int) -> Response:
    request.get_data(cache=False)
    asked = _requests(name)[number]
    json = _row(asked.text, asked.values)[asked.column]
    return Response(asked.head + json.encode() + asked.tail, mimetype="application/json")


def _row(text: str, values: list[object]) -> Any:
    connection, prepared = _thread_connection()
    with connection.cursor() as cursor:
        name = prepared.get(text)
        if name is None:
            name = prepared[text] = f"s{len(prepared)}"
            cursor.execute(f"PREPARE {name} AS {text}")
        places = f"({', '.join(['%s'] * len(values))})" if values else ""
        cursor.execute(f"EXECUTE {name}{places}", values)
        return cursor.fetchone()


def _thread_connection() -> ThreadConnection:
    if not hasattr(_local, "connection"):
        options = " ".join(f"-c {name}={value}" for name, value in SESSION.items())
        connection = psycopg2.connect(os.environ["DATABASE_URL"], options=options)
        connection.autocommit = True
        _local.connection = ThreadConnection(connection, {})
    thread_connection: ThreadConnection = _local.connection
    return thread_connection
