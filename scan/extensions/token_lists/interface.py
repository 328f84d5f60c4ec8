"""The limit of /logos, which is not the API's."""

from collections.abc import Sequence

from flask import Flask

from scan.extensions.token_lists.api import INTERFACE
from scan.http.hooks import Interfaces
from scan.http.request_state import Interface
from scan.settings import Settings


def register(_app: Flask, _settings: Settings) -> Sequence[Interface]:
    return (INTERFACE,)


HOOKS = Interfaces(register=register)
