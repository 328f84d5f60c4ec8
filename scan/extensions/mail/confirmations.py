"""Mails that ask for a confirmation, sent beside serving: no request waits for an SMTP server."""

import logging
from datetime import UTC, datetime
from smtplib import SMTPRecipientsRefused

from scan.database.connection import Database
from scan.extensions.mail.mailer import Mailer
from scan.hex import to_hex

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
