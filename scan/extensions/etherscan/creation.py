"""module=contract, action=getcontractcreation: creator, transaction and creation code."""

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
            {
                "contractAddress": creation.address,
                "contractCreator": creation.creator,
                "txHash": creation.transaction_hash,
                "blockNumber": creation.block_number,
                "timestamp": creation.timestamp,
                "contractFactory": creation.factory or "",
                "creationBytecode": creation.code,
            }
            for creation in rows
        ]
    )
