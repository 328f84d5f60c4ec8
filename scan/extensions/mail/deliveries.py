"""How the dispatcher delivers to webhooks whose URL is mail://."""

import logging
import time
from contextlib import nullcontext
from datetime import datetime
from smtplib import SMTPRecipientsRefused, SMTPResponseException

from scan.database.connection import Database
from scan.extensions.mail.messages import Mailer, mailer
from scan.settings import Settings
from scan.webhooks import hooks, queues, sender

MAX_MAILS_A_DAY = 50  # of a subscription
ACCEPTED = 250

log = logging.getLogger(__name__)


def connect(settings: Settings, database: Database) -> queues.Connect | None:
    mails = mailer(settings)
    if mails.server is None:
        return None
    return lambda lease: nullcontext(MailConnection(mails, database, lease))


class MailConnection:
    """Mails one subscription's deliveries during a lease."""

    def __init__(self, mails: Mailer, database: Database, lease: queues.Lease) -> None:
        self._mails = mails
        self._database = database
        self._lease = lease

    def post(self, message: sender.Message, now: datetime) -> sender.Outcome:
        """Mail a delivery, of the first MAX_MAILS_A_DAY of a day; the others count as delivered."""
        started = time.monotonic()
        code: int | None
        of_day = {"webhook_id": self._lease.webhook_id, "day": now.date()}
        row = self._database.row("webhooks/mail_subscriptions_get_mails", **of_day)
        if row is None:
            code, error, sent = sender.GONE, None, False
        elif row[2] >= MAX_MAILS_A_DAY:
            code, error, sent = ACCEPTED, None, False
        else:
            code, error, sent = self._mail(message, *row)
            if code == ACCEPTED:
                self._database.rows("webhooks/mail_subscriptions_count_mail", **of_day)
        return sender.Outcome(code, error, sent, time.monotonic() - started)

    def _mail(
        self, message: sender.Message, to: str, token: str, mails: int
    ) -> tuple[int | None, str | None, bool]:
        """Return (code, error, sent), where a refused recipient is gone."""
        is_last = mails + 1 == MAX_MAILS_A_DAY
        mail = self._mails.writer.event(to, token, message.id, message.body, is_last=is_last)
        try:
            self._mails.send(mail)
        except SMTPRecipientsRefused as error:
            code = next(iter(error.recipients.values()))[0]
            return (sender.GONE if 500 <= code < 600 else code), None, False
        except SMTPResponseException as error:
            return error.smtp_code, None, False
        except OSError as error:
            log.info("mail of delivery %s: %s", message.id, type(error).__name__)
            return None, "the SMTP server does not respond", True
        return ACCEPTED, None, True


HOOKS = hooks.Deliveries(connect={"mail": connect})
