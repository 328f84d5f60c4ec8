"""What lives as long as the process: the ABIs of contracts."""

from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.http.hooks import Service
from scan.http.services import Services


def service(core: Services) -> object:
    return ContractAbis(core.reads)


HOOKS = Service(make=service)
