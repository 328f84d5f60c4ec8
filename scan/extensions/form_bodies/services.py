"""What lives as long as the process: the limit of large forms."""

from collections.abc import Iterable

from scan.extensions.form_bodies.form_body import LargeForms
from scan.http.services import Services


def services(_core: Services) -> Iterable[object]:
    return (LargeForms(),)
