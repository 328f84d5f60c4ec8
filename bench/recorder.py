"""Which statement a request runs, with its values: found by asking the application itself."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from app import create_app
from bench.cases import Request, respelled
from scan.database.connection import Database
from scan.settings import Settings


class RecordedRequest(NamedTuple):
    """A request's first statement that has a row, with its values, and the body made of it."""

    statement: str
    params: dict[str, object]
    row: tuple[Any, ...]
    body: bytes


class Recorder:
    """An application in this process whose statements are recorded on their way."""

    def __init__(self, database_url: str, rpc_url: str) -> None:
        self._ran: list[tuple[str, dict[str, object], tuple[Any, ...]]] = []
        self._numbers = itertools.count()
        settings = Settings(
            database_url=database_url, rpc_urls=(rpc_url,), rate_limit_anonymous="900000000/second"
        )
        self._client = create_app(settings).test_client()

    def record(self, requests: Sequence[Request]) -> list[RecordedRequest]:
        rows = Database.rows

        def recorded(read: Any) -> Any:
            def recording(database: Database, statement: str, **params: Any) -> Any:
                result = read(database, statement, **params)
                if result:  # what retention keeps has no row where it keeps everything
                    self._ran.append((statement, params, result[0]))
                return result

            return recording

        Database.rows = recorded(rows)  # type: ignore[method-assign]
        try:
            return [self._record(request) for request in requests]
        finally:
            Database.rows = rows  # type: ignore[method-assign]

    def _record(self, request: Request) -> RecordedRequest:
        self._ran.clear()
        response = self._client.open(
            respelled(request.path, next(self._numbers)),  # so that none is cached
            method=request.method,
            data=request.body or None,
            content_type="application/json" if request.body else None,
        )
        if response.status_code != 200 or not self._ran:
            raise RuntimeError(
                f"{request.path} answers {response.status_code}, without a statement"
            )
        return RecordedRequest(*self._ran[0], response.get_data())
