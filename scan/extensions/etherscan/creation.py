"""module=contract, action=getcontractcreation: creator, transaction and creation code."""

from scan.extensions.etherscan.objects import renamed
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply
from scan.http.requests import reader
from scan.queries import contract_creations as creations

MOST_CONTRACTS = 5
NO_DATA = "No data found"


def contract_creations(parameters: Parameters) -> Reply:
    addresses = parameters.addresses("contractaddresses", MOST_CONTRACTS)
    rows = creations.of_contracts(reader(), addresses)
    if not rows:
        raise Failure(None, NO_DATA)
    return Reply(
        [
            renamed("creation", creation._asdict()) | {"contractFactory": creation.factory or ""}
            for creation in rows
        ]
    )
