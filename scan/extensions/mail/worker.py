"""What runs beside serving: mails that ask for a confirmation."""

from collections.abc import Iterable

from scan.extensions.mail.confirmations import Confirmations
from scan.extensions.mail.mailer import Mailer
from scan.http.services import Services


def threads(core: Services) -> Iterable[Confirmations]:
    mails = core.sources.get(Mailer)
    return () if mails.server is None else (Confirmations(core.writes, mails),)
