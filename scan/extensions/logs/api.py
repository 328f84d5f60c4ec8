"""GET /api/v1/logs."""

from flask import Blueprint

from scan.api.hooks import Api
from scan.extensions.logs import queries
from scan.extensions.logs import queries as logs
from scan.http.list_responses import ORDERED, list_response
from scan.http.requests import Response, query_arguments, reader
from scan.queries.hooks import Entities
from scan.queries.pages import FILTER_KEYS

blueprint = Blueprint("logs", __name__)


@blueprint.get("/logs")
def list_logs() -> Response:
    arguments = query_arguments(*FILTER_KEYS["logs"], *ORDERED)
    log_filter = logs.read_filter(reader(), arguments)
    return list_response(
        "logs",
        arguments,
        lambda window: logs.page(reader(), window, log_filter, has_total=True),
        read_for_file=lambda window: logs.stored_page(reader(), window, log_filter),
    )


HOOKS = (Api(blueprints=(blueprint,)), Entities(pages={"logs": queries.page_by_filters}))
