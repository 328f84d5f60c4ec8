"""What lives as long as the process: the mails of the site."""

from scan.extensions.mail.mailer import mailer
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> object:
    return mailer(core.settings)


HOOKS = Service(make=service)
