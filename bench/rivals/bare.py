"""What Flask can do on these gunicorn settings: bytes that lie ready, and nothing else.

BENCH_FILES names a folder; /<name> answers with the bytes of its file of that name.
"""

import os
from functools import cache
from pathlib import Path

from flask import Flask, Response, request

app = Flask(__name__, static_folder=None)


@cache
def _body(name: str) -> bytes:
    return (Path(os.environ["BENCH_FILES"]) / name).read_bytes()


@app.route("/<name>", methods=["GET", "POST"])
def answer(name: str) -> Response:
    request.get_data(cache=False)
    return Response(_body(name), mimetype="application/json")
