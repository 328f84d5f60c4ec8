"""The API key of a request."""

import io
import re
from itertools import islice
from typing import NamedTuple
from urllib.parse import parse_qsl

from gunicorn.http.errors import ParseException

from scan.server.connection import MAX_BODY_BYTES
from scan.server.wsgi_responses import Environ

BEARER = "bearer "  # in any letter case
MAX_KEYS_TRIED = 20  # texts of a form that look like a key
LONGEST_FIELD_HEAD = 200  # of a field in a multipart form

_FORM_KEY = re.compile(rb"scan_[0-9a-f]{64}")
# The text before the key: `apikey=`, or a part's head with that name and an empty line.
_FIELD_NAME = re.compile(
    rb'(?:(?:\A|&)apikey=|;\s*name="?apikey"?(?:\s*;[^\r\n]*)?(?:\r\n[^\r\n]+)*\r\n\r\n)\Z', re.I
)


class Caller(NamedTuple):
    """The sender by its key; `api_key` is None where the request has none.

    An unknown key is refused, or ignored if `is_lenient`. `limit_key` is the value by which
    deploy/nginx.conf chose this instance: a key's text or "address", or empty without nginx.
    """

    api_key: str | None
    is_lenient: bool = False
    limit_key: str = ""


def caller_of(environ: Environ, parameter: str | None = None, form: bytes | None = None) -> Caller:
    """Return the sender of a request.

    The key is sent as X-API-Key, as `Authorization: Bearer scan_…`, or where an interface has a
    `parameter` for it, in the query or in a form.
    """
    api_key = environ.get("HTTP_X_API_KEY")
    authorization = environ.get("HTTP_AUTHORIZATION", "")
    if api_key is None and authorization[: len(BEARER)].lower() == BEARER:
        api_key = authorization[len(BEARER) :].strip()
    caller = Caller(api_key, limit_key=environ.get("HTTP_X_SCAN_LIMIT_KEY", ""))
    if api_key is not None or parameter is None:
        return caller
    for name, value in parse_qsl(environ.get("QUERY_STRING", "")):
        if name.lower() == parameter and value:
            return caller._replace(api_key=value, is_lenient=True)
    key = None if form is None else key_in_form(form)
    return caller if key is None else caller._replace(api_key=key, is_lenient=True)


def key_in_form(form: bytes) -> str | None:
    """Return the key in a form's field `apikey` (in any letter case), without parsing the form.

    Parsing megabytes takes seconds, which are not spent before their sender is charged.
    """
    for key in islice(_FORM_KEY.finditer(form), MAX_KEYS_TRIED):
        name = form[max(0, key.start() - LONGEST_FIELD_HEAD) : key.start()]
        if _FIELD_NAME.search(name):
            return key.group().decode()
    return None


def read_form(environ: Environ) -> bytes:
    """Return the whole body, which Flask can read again."""
    try:
        body: bytes = environ["wsgi.input"].read(MAX_BODY_BYTES)
    except (OSError, ParseException):
        return b""  # the next reader meets the same error, and reports it
    environ["wsgi.input"] = io.BytesIO(body)
    return body
