"""What mails say. Their headers have words of this file, addresses that were checked, and hex."""

from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from typing import Any, NamedTuple

import orjson

TITLES = {
    "tx": "Transaction",
    "token_transfer": "Token transfer",
    "internal_transfer": "Internal transfer",
    "dex_trade": "Trade",
    "log": "Event",
}
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
        title = TITLES.get(event["event"], "Event")
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
