"""Every test begins with applications that have served nothing, whichever fixture made them."""

from contextlib import contextmanager

import pytest

import app
from scan.http.application import Application

OF_ROUTES = ("url_map", "view_functions", "blueprints", "error_handler_spec", "routes")


@contextmanager
def renewing():
    """A function that renews the applications which have served since it was last called: what one
    has cached, counted and learnt of its database and node is then gone, in 2 ms, and its thread
    that writes counts ends. Meanwhile applications share their routes, which take 10 ms."""
    served, routed = set(), {}
    plainly, add_routes = Application.__call__, app._add_routes

    def call(application, environ, start_response):
        served.add(application)
        return plainly(application, environ, start_response)

    def share_routes(application, settings):
        key = settings.pages, settings.base_path, settings.needs_key
        if key not in routed:
            interfaces = add_routes(application, settings)
            shared = {name: getattr(application, name) for name in OF_ROUTES}
            routed[key] = shared, application.extensions["scan.document"], interfaces
        shared, application.extensions["scan.document"], interfaces = routed[key]
        vars(application).update(shared)
        return interfaces

    def renew_served():
        while served:
            application = served.pop()
            if listener := application.wsgi_app.index_version._listener:
                listener.close()  # its session is used again
            application.extensions["scan"].key_usage.close()
            app.renew(application)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Application, "__call__", call)
        patch.setattr(app, "_add_routes", share_routes)
        yield renew_served
