"""What lives as long as the process: the layouts of verified contracts."""

from scan import hooks
from scan.extensions.transaction_details.storage.layouts import StorageLayouts
from scan.http.services import Services


def service(core: Services) -> object:
    return StorageLayouts(core.reads)


HOOKS = hooks.Service(make=service)
