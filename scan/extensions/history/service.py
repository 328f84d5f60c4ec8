"""What lives as long as the process: the reader of balances at genesis."""

from scan import hooks
from scan.extensions.history.genesis_balances import GenesisBalances
from scan.http.services import Services


def service(core: Services) -> object:
    return GenesisBalances(core.writes)


HOOKS = hooks.Service(make=service)
