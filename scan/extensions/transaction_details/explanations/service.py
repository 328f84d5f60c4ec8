"""What lives as long as the process: the reader of why transactions failed."""

from scan.extensions.internal_transfers.transaction_traces import TransactionTraces
from scan.extensions.transaction_details.contract_abis import ContractAbis
from scan.extensions.transaction_details.explanations.failure_locations import FailureLocations
from scan.extensions.transaction_details.explanations.transaction_failures import (
    TransactionFailures,
)
from scan.http.hooks import Service
from scan.http.services import Services


def service(core: Services) -> object:
    sources = core.sources
    return TransactionFailures(
        core.writes,
        core.reads,
        sources.get(TransactionTraces),
        sources.get(ContractAbis),
        sources.node_transactions,
        FailureLocations(sources, sources.get(TransactionTraces)),
    )


HOOKS = Service(make=service)
