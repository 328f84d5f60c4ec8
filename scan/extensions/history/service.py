"""What lives as long as the process: the reader of balances at genesis."""

from scan.extensions.history.genesis_balances import GenesisBalances
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> object:
    return GenesisBalances(core.writes)


HOOKS = Service(make=service)
