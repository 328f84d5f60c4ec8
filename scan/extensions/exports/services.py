"""What lives as long as the process: places for files that are written and sent."""

from collections.abc import Iterable

from scan.extensions.exports.file_places import FilePlaces
from scan.http.services import Services


def services(_core: Services) -> Iterable[object]:
    return (FilePlaces(),)
