"""GET /api/v1/search."""

from flask import Blueprint

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.search import queries as search_queries
from scan.http.requests import Response, json_value, query_arguments, reader

blueprint = Blueprint("search", __name__)


@blueprint.get("/search")
def search() -> Response:
    text = parameters.required(query_arguments("q"), "q")
    text = search_queries.whole_value(reader(), text.strip())
    return json_value({"results": search_queries.results(reader(), text)})


HOOKS = Api(blueprints=(blueprint,))
