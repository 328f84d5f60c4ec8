"""GET /api/v1/logos/:digest: logos of token lists, which have a limit of their own."""

from collections.abc import Sequence

from flask import Blueprint, Flask, Response

from scan import parameters
from scan.api.hooks import Api
from scan.extensions.token_lists import token_list
from scan.http import hooks
from scan.http.current_request import query_arguments, reader
from scan.http.interfaces import API, REST, Interface
from scan.server.responses import Kept
from scan.settings import Settings

# A page shows many logos, which are charged to the limit of the address over all keys alone.
INTERFACE = Interface(REST.refuse, prefixes=(f"{API}/logos/",), has_address_limit=True)
# A logo may be an SVG with scripts. Opened by itself, nothing in it runs or is loaded.
HEADERS = {
    "Cache-Control": Kept.FOR_EVER,
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",  # pages of others may show it
}

api_views = Blueprint("token_lists", __name__)


@api_views.get("/logos/<digest>")
def get_logo(digest: str) -> Response:
    query_arguments()
    logo = token_list.get(reader(), parameters.digest(digest))
    # By the version of the index: the content never changes.
    reader().do_not_cache()
    return Response(logo.content, mimetype=logo.content_type, headers=HEADERS)


def register(_app: Flask, _settings: Settings) -> Sequence[Interface]:
    return (INTERFACE,)


HOOKS = (Api(blueprints=(api_views,)), hooks.Interfaces(register=register))
