"""The mails of the site, for as long as the process lives, and a thread that sends those which ask
for a confirmation.
"""

from collections.abc import Iterable

from scan.extensions.mail.mailer import Confirmations, Mailer, mailer
from scan.http.hooks import Service, Worker
from scan.http.request_state import Services
from scan.http.worker_threads import WorkerThread

EVERY_S = 1.0


def confirmation_threads(core: Services) -> Iterable[WorkerThread]:
    mails = core.sources.get(Mailer)
    if mails.server is None:
        return ()
    send_next = Confirmations(core.writes, mails).send_next
    failure = "mails that ask for a confirmation wait"
    return (WorkerThread("mail", send_next, EVERY_S, core.writes, failure),)


HOOKS = (Service(make=lambda core: mailer(core.settings)), Worker(threads=confirmation_threads))
