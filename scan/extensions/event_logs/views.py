"""GET /api/v1/events, and the entity `events` of /query."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from flask import Blueprint

from scan.api.hooks import Api
from scan.extensions.event_logs import queries
from scan.http.current_request import every_argument, reader
from scan.http.json_responses import Response
from scan.http.list_responses import list_response
from scan.queries.hooks import Entities, OwnFilters
from scan.queries.reader import Reader

blueprint = Blueprint("event_logs", __name__)


@blueprint.get("/events")
def list_events() -> Response:
    arguments = every_argument()
    query = queries.read(arguments)
    return list_response(
        "events",
        arguments,
        partial(queries.page, reader(), query=query),
        kind=query.table.view,
        read_for_file=partial(queries.rows_page, reader(), query=query),
        columns=query.columns,
    )


def _of_query(_: Reader, filters: Mapping[str, Any]) -> Mapping[str, Any]:
    return {"query": queries.read({key: filters[key] for key in queries.KEYS if key in filters})}


HOOKS = (
    Api(blueprints=(blueprint,), paths_with_other_names=(re.compile(r"/api/v1/events/?\Z"),)),
    Entities(
        pages={"events": queries.page}, filters={"events": OwnFilters(queries.KEYS, _of_query)}
    ),
)
