"""What lives as long as the process: the layouts of verified contracts."""

from scan.extensions.transaction_details.storage.layouts import StorageLayouts
from scan.http.hooks import Service
from scan.http.services import Services


def service(core: Services) -> object:
    return StorageLayouts(core.reads)


HOOKS = Service(make=service)
