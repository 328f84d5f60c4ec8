"""What lives as long as the process: the descriptors of the folder."""

from scan.extensions.clear_signing.descriptors import Descriptors
from scan.extensions.clear_signing.queries import Erc7730
from scan.extensions.clear_signing.settings import Settings
from scan.extensions.transaction_details.decoding import ClearSigning
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> Erc7730:
    return Erc7730(Descriptors(core.settings.of(Settings).descriptors))


HOOKS = Service(make=service, base=ClearSigning)
