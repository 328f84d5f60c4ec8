"""The document, and the pages that show it, beside the API."""

import functools
from collections.abc import Sequence

from flask import Flask

from scan import hooks
from scan.extensions.openapi import documentation
from scan.extensions.openapi.document import document
from scan.http.interfaces import Interface
from scan.settings import Settings


def register(app: Flask, settings: Settings) -> Sequence[Interface]:
    made = functools.cache(lambda: document(settings.base_path))
    app.extensions["scan.document"] = made
    app.register_blueprint(documentation.describe(made))
    app.register_blueprint(documentation.docs(made), url_prefix="/docs")
    return ()


HOOKS = hooks.Interfaces(open_paths=documentation.paths(), register=register)
