"""Every test begins with applications that have served nothing, whichever fixture made them."""

from contextlib import contextmanager

import pytest

from app import renew
from scan.http.application import Application


@contextmanager
def renewing():
    """A function that renews the applications which have served since it was last called: what one
    has cached, counted and learnt of its database and node is then gone, in 2 ms, and its thread
    that writes counts ends."""
    served = set()
    plainly = Application.__call__

    def call(application, environ, start_response):
        served.add(application)
        return plainly(application, environ, start_response)

    def renew_served():
        while served:
            application = served.pop()
            if listener := application.wsgi_app.index_version._listener:
                listener.close()  # its session is used again
            application.extensions["scan"].key_usage.close()
            renew(application)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Application, "__call__", call)
        yield renew_served
