"""Requests that make something and have an Idempotency-Key: the answer of one that succeeded is
kept for a day and given again, so that a client that lost it makes nothing twice. What failed has
made nothing, and may be repeated.

Answers have keys and secrets: they are stored so that only the request itself, with its
Idempotency-Key, can read them. Another client behind the same address that knows both gets the
answer, too: keys are to be random, and a webhook's secret is part of its requests.
"""

import hashlib
import os
import re
from collections.abc import Callable
from contextlib import suppress
from functools import wraps
from typing import Any

import orjson
from flask import request

from scan.errors import (
    IdempotencyKeyReused,
    InvalidJson,
    LimitReached,
    RequestInProgress,
    ScanError,
)
from scan.http import request_bodies
from scan.http.current_request import api_key
from scan.http.json_responses import JsonResponse
from scan.http.request_state import current_request
from scan.http.services import services
from scan.parameters import require
from scan.rate_limits.client_address import network_around

HEADER = "Idempotency-Key"
MAX_ANSWERS = 1_000  # of an API key, or of the network of clients without one
NONCE_BYTES = 16
_KEY = re.compile(r"[!-~]{1,255}")


def idempotent(view: Callable[..., JsonResponse]) -> Callable[..., JsonResponse]:
    """Return a view that gives the answer that it has given to the same request."""

    @wraps(view)
    def answered(**arguments: Any) -> JsonResponse:
        given = request.headers.get(HEADER)
        if given is None:
            return view(**arguments)
        reason = f"{HEADER} must be 1 to 255 visible characters of ASCII."
        require(_KEY.fullmatch(given), HEADER, reason)
        state, key, database = current_request(), api_key(), services().writes
        name = f"key {key.id}" if key else f"{state.client} {state.maker.maker_user or ''}"
        key_hash = hashlib.sha256(f"{name} {given}".encode()).digest()
        secret, query = request.headers.get("X-Webhook-Secret"), state.environ["QUERY_STRING"]
        content = orjson.dumps((state.path, query, secret, request.headers.get("Content-Type")))
        content += request_bodies.whole_body(InvalidJson)
        request_hash = hashlib.sha256(content).digest()
        [(has_begun, are_most, kept_hash, kept)] = database.rows(
            "http/idempotent_requests_begin",
            key_hash=key_hash,
            client=name if key else network_around(state.client),
            request_hash=request_hash,
            most=MAX_ANSWERS,
        )
        if kept is not None:
            if bytes(kept_hash) != request_hash:
                raise IdempotencyKeyReused(f"Another request has this {HEADER}: send a new one.")
            nonce, sealed = bytes(kept[:NONCE_BYTES]), bytes(kept[NONCE_BYTES:])
            status, location, body = orjson.loads(_sealed(sealed, nonce, given, content))
            return JsonResponse(body.encode(), status, location)
        if not has_begun and kept_hash is None and are_most:
            raise LimitReached(f"{MAX_ANSWERS:,} of your answers are kept; leave out {HEADER}.")
        if not has_begun:
            reason = f"A request with this {HEADER} is still being answered."
            raise RequestInProgress(reason, headers={"Retry-After": "1"})
        answer = None
        try:
            made = view(**arguments)
            record = int(made.status[:3]), made.headers.get("Location"), made.body.decode()
            nonce = os.urandom(NONCE_BYTES)
            answer = nonce + _sealed(orjson.dumps(record), nonce, given, content)
            return made
        finally:
            with suppress(ScanError):  # it ends by itself
                database.rows("http/idempotent_requests_end", key_hash=key_hash, answer=answer)

    return answered


def _sealed(answer: bytes, nonce: bytes, given: str, content: bytes) -> bytes:
    """Return an answer, or a sealed one, with the bits that the request gives turned: others for
    each answer, by its `nonce`."""
    mask = hashlib.shake_256(nonce + f"{given}\n".encode() + content).digest(len(answer))
    return (int.from_bytes(answer) ^ int.from_bytes(mask)).to_bytes(len(answer))
