"""What runs beside serving: mails that ask for a confirmation."""

from collections.abc import Iterable

from scan.extensions.mail.mailer import Confirmations, Mailer
from scan.http.hooks import Worker
from scan.http.request_state import Services
from scan.http.worker_threads import WorkerThread

EVERY_S = 1.0


def threads(core: Services) -> Iterable[WorkerThread]:
    mails = core.sources.get(Mailer)
    if mails.server is None:
        return ()
    send_next = Confirmations(core.writes, mails).send_next
    failure = "mails that ask for a confirmation wait"
    return (WorkerThread("mail", send_next, EVERY_S, core.writes, failure),)


HOOKS = Worker(threads=threads)
