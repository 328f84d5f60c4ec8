"""Errors in Blockscout's form: {"message"}, and {"errors"} for a parameter."""

from scan.errors import InvalidParameter, NotFound, ScanError
from scan.http.interfaces import Interface
from scan.server.wsgi_responses import WsgiResponse, json_response

PREFIX = "/api/v2"
STATS_PREFIX = "/stats-service/api/v1"  # of another service at Blockscout
UNPROCESSABLE = 422
NOT_FOUND = "Not found"


def refuse(error: ScanError) -> WsgiResponse:
    headers = list(error.headers.items())
    if isinstance(error, InvalidParameter):
        field = error.body().get("field", "")
        fault = {
            "title": "Invalid value",
            "source": {"pointer": f"/{field}"},
            "detail": error.message,
        }
        return json_response(UNPROCESSABLE, {"errors": [fault]}, headers)
    message = NOT_FOUND if isinstance(error, NotFound) else error.message
    return json_response(error.status, {"message": message}, headers)


BLOCKSCOUT = Interface(
    refuse, prefixes=(f"{PREFIX}/", f"{STATS_PREFIX}/"), api_key_parameter="apikey"
)
