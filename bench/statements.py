"""Which statement a request runs first, with its values: found by asking the application itself."""

import re
from collections.abc import Sequence
from typing import Any

from app import create_app
from bench.cases import Request
from bench.databases import connected
from bench.servers import as_a_standby
from scan.database.connection import Database, load_statements
from scan.settings import Settings

Asked = tuple[str, dict[str, object]]  # a statement's name and its values


class Recorder:
    """An application in this process whose statements are noted on their way."""

    def __init__(self, database_url: str, rpc_url: str) -> None:
        self._url = database_url
        self._noted: list[Asked] = []
        self._texts = {name: statement.text for name, statement in load_statements().items()}
        urls = as_a_standby(database_url)  # so that each request runs its statement
        settings = Settings(
            database_url=urls["DATABASE_URL"],
            read_database_url=urls["READ_DATABASE_URL"],
            rpc_urls=(rpc_url,),
            rate_limit_anonymous="900000000/second",
        )
        self._client = create_app(settings).test_client()

    def statements(self, requests: Sequence[Request]) -> list[str]:
        """The statement behind each request, values and all."""
        row = Database.row
        prepared_row = Database.prepared_row

        def noting(database: Database, statement: str, **params: Any) -> Any:
            self._noted.append((statement, params))
            return row(database, statement, **params)

        Database.row = Database.prepared_row = noting  # type: ignore[method-assign]
        try:
            asked = [self._last_of(request) for request in requests]
        finally:
            Database.row = row  # type: ignore[method-assign]
            Database.prepared_row = prepared_row  # type: ignore[method-assign]
        with connected(self._url) as cursor:
            return [self._whole(cursor, *one) for one in asked]

    def _last_of(self, request: Request) -> Asked:
        self._noted.clear()
        kind = "application/json" if request.body else None
        answer = self._client.open(
            request.path, method=request.method, data=request.body or None, content_type=kind
        )
        if answer.status_code != 200 or not self._noted:
            raise RuntimeError(f"{request.path} answers {answer.status_code}, without a statement")
        return self._noted[0]

    def _whole(self, cursor: Any, name: str, params: dict[str, object]) -> str:
        without_comments = re.sub(r"--[^\n]*", "", self._texts[name])
        return str(cursor.mogrify(without_comments, params).decode())
