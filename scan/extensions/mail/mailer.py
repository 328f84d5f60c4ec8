"""The mails of a site: its SMTP server and what they say."""

from email.message import EmailMessage
from typing import NamedTuple

from scan.errors import SettingError
from scan.extensions.mail.message import Writer
from scan.extensions.mail.settings import Settings as MailSettings
from scan.extensions.mail.smtp import SmtpServer
from scan.outbound.connection import tls_context
from scan.settings import Settings


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
    own, brand = settings.of(MailSettings), settings.brand
    if own.smtp_url and not brand.url:
        reason = "also needs url in SCAN_BRAND, for links in mails"
        raise SettingError("SCAN_SMTP_URL", "…", reason)
    server = SmtpServer(own.smtp_url, tls_context(settings.ca_bundle)) if own.smtp_url else None
    url = f"{brand.url}{settings.base_path}"
    return Mailer(server, Writer(brand.name or "Scan", url, own.sender))
