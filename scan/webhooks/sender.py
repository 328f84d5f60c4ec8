"""Signed requests to receivers, at checked addresses only, with a deadline for each attempt."""

import hmac
import ssl
import time
from base64 import b64encode
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import orjson

from scan.deadlines import Deadline, retry_after_s
from scan.outbound.allowed_urls import NotResolved, Purpose, RefusedUrl
from scan.outbound.http_client import FAULTS, CheckedConnection, Outbound

USER_AGENT = "Scan-Webhook/1.0"
GONE = 410
TOO_MANY_REQUESTS = 429
MAX_REFUSAL_BYTES = 1_000


class Message(NamedTuple):
    """A request's content: all attempts of a delivery send the same id and bytes."""

    id: int
    event: str
    body: bytes


class Outcome(NamedTuple):
    """The result of an attempt: a response code or an `error`.

    `sent` is False if the receiver cannot have received the request.
    """

    response_code: int | None
    error: str | None
    sent: bool
    seconds: float
    retry_after_s: float | None = None

    @property
    def is_success(self) -> bool:
        return self.response_code is not None and 200 <= self.response_code < 300

    @property
    def is_gone(self) -> bool:
        return self.response_code == GONE


def signature_header(secret: str, body: bytes) -> str:
    """Return the value of X-Scan-Signature."""
    return f"sha256={hmac.digest(secret.encode(), body, 'sha256').hex()}"


class ReceiverConnection:
    """Sends one webhook's deliveries during a lease.

    A connection is reused only if the response had no body: bodies are not read, but for the
    beginning of a 429's without Retry-After.
    """

    def __init__(
        self, outbound: Outbound, url: str, secrets: Sequence[str], *, is_healthy: bool
    ) -> None:
        """`secrets` sign, the webhook's own first."""
        self._outbound = outbound
        self._url = url
        self._secrets = secrets
        self._purpose = Purpose.HEALTHY_RECEIVER if is_healthy else Purpose.UNHEALTHY_RECEIVER
        self._connection: CheckedConnection | None = None

    def post(self, message: Message, now: datetime) -> Outcome:
        """Make one attempt. Its outcome has the error, if any."""
        started = time.monotonic()
        total_s = self._outbound.timeouts.total_s
        with self._outbound.deadlines.deadline(total_s) as deadline:
            code, retry_s, error, sent = self._attempt(message, now, deadline)
            if deadline.is_over:  # truncated headers would look like a complete response
                code, error = None, f"no response within {total_s:g} s"
        return Outcome(code, error, sent, time.monotonic() - started, retry_s)

    def _attempt(
        self, message: Message, now: datetime, deadline: Deadline
    ) -> tuple[int | None, float | None, str | None, bool]:
        """Return (status, Retry-After, error, sent) of an attempt. A reused connection that fails
        is replaced once."""
        is_reused = self._connection is not None
        sent = False
        try:
            connection = self._connection
            if connection is None:
                connection = CheckedConnection(self._outbound, self._url, self._purpose, deadline)
                self._connection = connection
                connection.connect()
            elif connection.sock is not None:
                deadline.add(connection.sock)
            sent = True  # from here on the receiver may have received the request
            code, retry_after = self._request(connection, message, now)
        except FAULTS as error:
            self.close()
            if is_reused and not deadline.is_over:
                return self._attempt(message, now, deadline)
            return None, None, _reason(error, sent), sent
        return code, retry_after_s(retry_after, now), None, sent

    def _request(
        self, connection: CheckedConnection, message: Message, now: datetime
    ) -> tuple[int, str | None]:
        """Send the request, and return the status and Retry-After of the response."""
        timestamp = str(int(now.timestamp()))
        signed = f"{message.id}.{timestamp}.".encode() + message.body
        digests = (hmac.digest(secret.encode(), signed, "sha256") for secret in self._secrets)
        headers = {
            "Content-Type": "application/json",
            "User-Agent": USER_AGENT,
            "X-Scan-Event": message.event,
            "X-Scan-Delivery": str(message.id),
            "X-Scan-Signature": signature_header(self._secrets[0], message.body),
            # The headers of Standard Webhooks 1.0, with the same key, and the former ones after it.
            "Webhook-Id": str(message.id),
            "Webhook-Timestamp": timestamp,
            "Webhook-Signature": " ".join(f"v1,{b64encode(digest).decode()}" for digest in digests),
        }
        connection.request("POST", connection.path, message.body, headers, preload_content=False)
        response = connection.getresponse()
        retry_after = response.headers.get("Retry-After")
        if response.status == TOO_MANY_REQUESTS and retry_after is None:
            with suppress(*FAULTS):  # the response counts whatever becomes of its body
                refusal = response.read(MAX_REFUSAL_BYTES, decode_content=False)
                retry_after = _retry_after_in(refusal)
        if connection.sock is not None and response.length_remaining == 0:
            response.read()
        else:
            self.close()
        return response.status, retry_after

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _retry_after_in(body: bytes) -> str | None:
    """Return the seconds to wait that Telegram's refusal has in its body, in place of a header."""
    try:
        seconds = orjson.loads(body)["parameters"]["retry_after"]
    except (ValueError, KeyError, TypeError):
        return None
    return str(seconds) if type(seconds) is int else None


def _reason(error: Exception, sent: bool) -> str:
    """Return a reason to show to the webhook's owner, without anything that the receiver sent."""
    if isinstance(error, RefusedUrl):
        return f"the url is not allowed: {error}"
    if isinstance(error, NotResolved):
        return str(error)
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not accepted: {error.verify_message}"
    if isinstance(error, ssl.SSLError):
        return "TLS failed"
    if isinstance(error, ConnectionRefusedError):
        return "the connection was refused"
    if isinstance(error, TimeoutError) and not sent:
        return "no connection in time"
    if not sent:
        return "no connection"
    return "the connection was closed before the end of the response"
