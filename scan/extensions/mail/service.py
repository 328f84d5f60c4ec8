"""What lives as long as the process: the mails of the site."""

from scan import hooks
from scan.extensions.mail.mailer import mailer
from scan.http.services import Services


def service(core: Services) -> object:
    return mailer(core.settings)


HOOKS = hooks.Service(make=service)
