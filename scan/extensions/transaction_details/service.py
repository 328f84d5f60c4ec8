"""What lives as long as the process: the ABIs of contracts.

What lives as long as the process: the reader of why transactions failed.

What lives as long as the process: the layouts of verified contracts.
"""

from scan.extensions.internal_transfers.transaction_traces import TransactionTraces
from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.extensions.transaction_details.explanations.failure_locations import FailureLocations
from scan.extensions.transaction_details.explanations.transaction_failures import (
    TransactionFailures,
)
from scan.extensions.transaction_details.storage.layout import StorageLayouts
from scan.http.hooks import Service
from scan.http.request_state import Services


def service(core: Services) -> object:
    return ContractAbis(core.reads)


def explanations_service(core: Services) -> object:
    sources = core.sources
    return TransactionFailures(
        core.writes,
        core.reads,
        sources.get(TransactionTraces),
        sources.get(ContractAbis),
        sources.node_transactions,
        FailureLocations(sources, sources.get(TransactionTraces)),
    )


def storage_service(core: Services) -> object:
    return StorageLayouts(core.reads)


HOOKS = (Service(make=service), Service(make=explanations_service), Service(make=storage_service))
