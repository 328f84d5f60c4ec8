"""What lives as long as the process: the limit of large forms."""

from scan.extensions.form_bodies.form_body import LargeForms
from scan.http.services import Services


def service(_core: Services) -> object:
    return LargeForms()
