# ruff: noqa: E501 (a setting is one line)
"""The setting of e-mail."""

from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from scan.environment import Kind, require, setting, url_parts
from scan.extensions.mail.addresses import mail_address
from scan.settings import OwnSettings


def _smtp_url(text: str) -> str:
    require(not url_parts(text, "smtp", "smtps").path.strip("/"))
    mail_address(_sender(text))
    return text


def _sender(url: str) -> str:
    return parse_qs(urlsplit(url).query).get("from", [""])[0]


smtp_url = Kind(
    "mail server", "smtp://user:password@host:port/?from=address, or smtps://", _smtp_url
)


@dataclass(frozen=True)
class Settings:
    # fmt: off
    smtp_url: str = setting("SCAN_SMTP_URL", smtp_url, "none", "`smtp://user:password@host:587/?from=scan@example.org` (STARTTLS) or `smtps://`: [e-mail of events](webhooks.md#e-mail), which needs `url` of SCAN_BRAND", unset="")
    # fmt: on

    @property
    def sender(self) -> str:
        """The address that mails are from."""
        return mail_address(_sender(self.smtp_url)) if self.smtp_url else ""


HOOKS = OwnSettings(declared=Settings)
