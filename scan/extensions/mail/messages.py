"""The mails of a site: what they say, and its SMTP server, with one connection for each mail. Mails
that ask for a confirmation are sent beside serving: no request waits for an SMTP server.

Headers have words of this file, addresses that were checked, and hex.
"""

import logging
import smtplib
import ssl
import time
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from smtplib import SMTPRecipientsRefused
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

import orjson

from scan.database.connection import Database
from scan.database.lists import all_event_types
from scan.errors import SettingError
from scan.extensions.mail.settings import Settings as MailSettings
from scan.hex import to_hex
from scan.outbound.https_client import tls_context
from scan.settings import Settings

UNFOLDED = SMTP.clone(max_line_length=998)  # else a long List-Unsubscribe would be encoded
MAX_VALUE = 500  # characters of a line's value
LAST_OF_TODAY = "This is the last mail of today: more events today are not mailed."


class Writer(NamedTuple):
    """Writes the mails of a site. `url` is its public URL without a slash at the end."""

    site: str
    url: str
    sender: str

    def confirmation(self, to: str, token: str, watch_address: str) -> EmailMessage:
        """Return the mail that asks whether `to` is willing."""
        return self._message(
            to,
            "Confirm e-mail of events",
            [
                f"Somebody, perhaps you, asked {self.url} to mail events of the address",
                f"{watch_address} to you. If you want that, confirm it here:",
                "",
                f"{self.url}/mail/confirm?token={token}",
                "",
                "If not, do nothing: without a confirmation there is no further mail. If you",
                "never want to be asked again:",
                f"{self._leave(token)}",
            ],
            token,
            f"confirm-{token[:12]}",
        )

    def event(
        self, to: str, token: str, delivery_id: int, body: bytes, *, is_last: bool
    ) -> EmailMessage:
        """Return the mail of an event, whose `body` is as webhooks get it. Mails of one delivery
        have one Message-ID, whatever their number."""
        event = orjson.loads(body)
        data: dict[str, Any] = event["data"]
        title = all_event_types()[event["event"]].title
        gone = "Taken back by a fork: " if data.get("removed") else ""
        lines = [f"{name}: {_text(value)}" for name, value in data.items()]
        return self._message(
            to,
            f"{gone}{title} {str(data['hash'])[:10]}",
            [
                f"{gone}{title}, {event['timestamp']}",
                *lines,
                "",
                f"{self.url}/tx/{data['hash']}",
                *(["", LAST_OF_TODAY] if is_last else []),
                "",
                f"Unsubscribe: {self._leave(token)}",
            ],
            token,
            str(delivery_id),
        )

    def _leave(self, token: str) -> str:
        return f"{self.url}/mail/leave?token={token}"

    def _message(
        self, to: str, subject: str, lines: list[str], token: str, message_id: str
    ) -> EmailMessage:
        message = EmailMessage(policy=UNFOLDED)
        message["From"] = Address(self.site, addr_spec=self.sender)
        message["To"] = to
        message["Subject"] = subject
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = f"<{message_id}@{self.sender.partition('@')[2]}>"
        message["Auto-Submitted"] = "auto-generated"
        # RFC 8058: a mail program leaves by one POST.
        message["List-Unsubscribe"] = f"<{self._leave(token)}>"
        message["List-Unsubscribe-Post"] = "List-Unsubscribe=One-Click"
        message.set_content("\n".join(lines))
        return message


def _text(value: object) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value).decode()
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


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


class Mailer(NamedTuple):
    """`server` is None where the site sends no mail."""

    server: SmtpServer | None
    writer: Writer

    def send(self, message: EmailMessage) -> None:
        """Send a mail; raises OSError."""
        if self.server is None:
            raise ConnectionError("no SMTP server is set")
        self.server.send(message)


def mailer(settings: Settings) -> Mailer:
    """Return the mails of a site; raises SettingError for a server without a public URL."""
    mail, brand = settings.of(MailSettings), settings.brand
    if mail.smtp_url and not brand.url:
        reason = "also needs url in SCAN_BRAND, for links in mails"
        raise SettingError("SCAN_SMTP_URL", "…", reason)
    server = SmtpServer(mail.smtp_url, tls_context(settings.ca_bundle)) if mail.smtp_url else None
    url = f"{brand.url}{settings.base_path}"
    return Mailer(server, Writer(brand.name or "Scan", url, mail.sender))


MOST_ATTEMPTS = 5  # within 16 minutes
MOST_IN_10_MINUTES = 30

log = logging.getLogger(__name__)


class Confirmations:
    """Mails waiting subscriptions one by one. Several processes share them; a mail is lost where
    its process dies."""

    def __init__(self, database: Database, mails: Mailer) -> None:
        self._database = database
        self._mails = mails

    def send_next(self) -> bool:
        """Mail the next subscription that is due; return whether there was one."""
        now = datetime.now(UTC)
        row = self._database.row(
            "webhooks/mail_subscriptions_claim",
            now=now,
            most_attempts=MOST_ATTEMPTS,
            most_mails=MOST_IN_10_MINUTES,
        )
        if row is None:
            return False
        token, to, watch_address = row
        try:
            mail = self._mails.writer.confirmation(to, token, to_hex(bytes(watch_address)))
            self._mails.send(mail)
        except OSError as error:
            log.info("a mail that asks for a confirmation: %s", type(error).__name__)
            if not _is_refused(error):
                self._database.rows("webhooks/mail_subscriptions_release", token=token)
        return True


def _is_refused(error: OSError) -> bool:
    """Return whether the server will never take mails for this recipient."""
    if not isinstance(error, SMTPRecipientsRefused):
        return False
    [(code, _)] = error.recipients.values()
    return bool(code >= 500)
