"""What lives as long as the process: the reader of why transactions failed."""

from scan.extensions.explanations.transaction_failures import TransactionFailures
from scan.http.services import Services


def service(core: Services) -> object:
    sources = core.sources
    return TransactionFailures(
        core.writes,
        core.reads,
        sources.transaction_traces,
        sources.contract_abis,
        sources.node_transactions,
    )
