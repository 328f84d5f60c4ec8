"""The setting of e-mail, and mail addresses: the plain ones of RFC 5321, in ASCII, so that no
header can be made of one."""

import re
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from scan.setting_kinds import Kind, require, setting, url_parts
from scan.settings import OwnSettings

MAX_CHARACTERS = 254

_PLAIN = re.compile(
    r"(?!.*=\?)"  # begins an encoded word (RFC 2047), which a header shows as what it decodes to
    r"[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*"
    r"@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
    re.ASCII,
)


def mail_address(text: str) -> str:
    """Return an address in lower case; raises ValueError."""
    address = text.strip(" ").lower()
    if len(address) > MAX_CHARACTERS or not _PLAIN.fullmatch(address):
        raise ValueError("must be a mail address such as anna@example.org")
    if len(address.partition("@")[0]) > 64:
        raise ValueError("must be a mail address whose first part has at most 64 characters")
    return address


# ruff: noqa: E501 (a setting is one line)


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
