"""What lives as long as the process: the URIs of items."""

from scan.extensions.items.token_uri import TokenUris
from scan.http.services import Services


def service(_core: Services) -> object:
    return TokenUris()
