"""Which statement a request runs, with its values: found by asking the application itself."""

import re
from collections.abc import Sequence
from typing import Any

import psycopg2

from app import create_app
from bench.cases import Request
from bench.databases import connected
from scan.db import Database
from scan.settings import Settings


class Recorder:
    """An application in this process whose statements are noted on their way."""

    def __init__(self, database_url: str, rpc_url: str) -> None:
        self._url = database_url
        self._noted: list[tuple[str, dict[str, object]]] = []
        settings = Settings(
            database_url=database_url,
            # Another address means a replica, whose answers are not kept in memory.
            read_database_url=f"{database_url}&application_name=bench",
            rpc_urls=(rpc_url,),
            rate_limit_anonymous="900000000/second",
        )
        self._client = create_app(settings).test_client()

    def statements(self, requests: Sequence[Request]) -> list[str]:
        """The text that PostgreSQL gets for each request, values and all.

        The last statement of a request is its own: one before it may read the chain's version.
        """
        run = Database._run

        def noting(database: Database, name: str, params: dict[str, object]) -> Any:
            self._noted.append((database._statements[name].text, params))
            return run(database, name, params)

        Database._run = noting  # type: ignore[method-assign]
        try:
            asked = [self._last_of(request) for request in requests]
        finally:
            Database._run = run  # type: ignore[method-assign]
        with connected(self._url) as cursor:
            return [_whole(cursor, text, params) for text, params in asked]

    def _last_of(self, request: Request) -> tuple[str, dict[str, object]]:
        self._noted.clear()
        kind = "application/json" if request.body else None
        answer = self._client.open(
            request.path, method=request.method, data=request.body or None, content_type=kind
        )
        if answer.status_code != 200 or not self._noted:
            raise RuntimeError(f"{request.path} answers {answer.status_code}, without a statement")
        return self._noted[-1]


def _whole(cursor: "psycopg2.extensions.cursor", text: str, params: dict[str, object]) -> str:
    without_comments = re.sub(r"--[^\n]*", "", text)
    return cursor.mogrify(without_comments, params).decode()
