"""What lives as long as the process: places for files that are written and sent."""

from scan.extensions.exports.file_places import FilePlaces
from scan.http.services import Services


def service(_core: Services) -> object:
    return FilePlaces()
