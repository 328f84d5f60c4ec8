"""What lives as long as the process: the contracts to be compared."""

from scan.extensions.equal_creations.contract_comparison import EqualCreations
from scan.http.services import Services


def service(core: Services) -> object:
    comparisons = EqualCreations(core.writes, core.verifier.creations, core.waiting_threads)
    core.verifier.on_stored.append(comparisons.request_all_of)
    return comparisons
