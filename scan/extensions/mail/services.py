"""What lives as long as the process: the mails of the site."""

from collections.abc import Iterable

from scan.extensions.mail.mailer import mailer
from scan.http.services import Services


def services(core: Services) -> Iterable[object]:
    return (mailer(core.settings),)
