"""What lives as long as the process: the reader of transactions' traces."""

from scan.extensions.internal_transfers.transaction_traces import TransactionTraces
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> object:
    return TransactionTraces(core.settings.traces)


HOOKS = Service(make=service)
