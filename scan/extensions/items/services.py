"""What lives as long as the process: the URIs of items."""

from collections.abc import Iterable

from scan.extensions.items.token_uri import TokenUris
from scan.http.services import Services


def services(_core: Services) -> Iterable[object]:
    return (TokenUris(),)
