"""The operator's SMTP server: one connection for each mail."""

import smtplib
import ssl
import time
from email.message import EmailMessage
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

# Of connecting, TLS and the login together, and of each of the five commands after them: a mail
# takes less than a lease of its queue (30 s).
TIMEOUT_S = 4.0
SUBMISSION_PORT, TLS_PORT = 587, 465


class SmtpServer(NamedTuple):
    url: str
    context: ssl.SSLContext

    def send(self, message: EmailMessage) -> None:
        """Send one mail. Raises OSError, of which smtplib's errors are."""
        ends_at = time.monotonic() + TIMEOUT_S
        with self._connected() as server:
            for step in (server.ehlo, lambda: self._secure(server), lambda: self._login(server)):
                assert server.sock is not None
                server.sock.settimeout(max(0.01, ends_at - time.monotonic()))
                step()
            assert server.sock is not None
            server.sock.settimeout(TIMEOUT_S)
            server.send_message(message)

    def _connected(self) -> smtplib.SMTP:
        parts = urlsplit(self.url)
        host = parts.hostname or ""
        if parts.scheme == "smtp":
            return smtplib.SMTP(host, parts.port or SUBMISSION_PORT, timeout=TIMEOUT_S)
        port = parts.port or TLS_PORT
        return smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_S, context=self.context)

    def _secure(self, server: smtplib.SMTP) -> None:
        """Begin TLS where the server offers it; without it no password is sent."""
        parts = urlsplit(self.url)
        if parts.scheme == "smtp" and server.has_extn("starttls"):
            server.starttls(context=self.context)
            server.ehlo()
        elif parts.scheme == "smtp" and parts.username:
            raise smtplib.SMTPNotSupportedError("the server offers no TLS for the password")

    def _login(self, server: smtplib.SMTP) -> None:
        parts = urlsplit(self.url)
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
