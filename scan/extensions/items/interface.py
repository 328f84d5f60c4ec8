"""The pictures of items among the interfaces."""

from collections.abc import Sequence

from flask import Flask

from scan.http.hooks import Interfaces
from scan.http.request_state import REST, Interface
from scan.settings import Settings

# A list shows many pictures, which are charged to the limit of the address over all keys alone.
PICTURES = Interface(REST.refuse, prefixes=("/nft/pictures/",), has_address_limit=True)


def register(_app: Flask, settings: Settings) -> Sequence[Interface]:
    return (PICTURES,) if settings.pages else ()


HOOKS = Interfaces(register=register)
