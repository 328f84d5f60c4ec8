"""module=account, action=fundedby: the first transfer of coin to an address."""

from scan.extensions.etherscan.account import NO_DATA
from scan.extensions.etherscan.parameters import Parameters
from scan.extensions.etherscan.replies import Failure, Reply
from scan.hex import to_hex
from scan.http.requests import reader

NOT_KNOWN = "Error! An earlier transfer may be missing: {}"
NO_BLOCKS = "transactions before block {} are not indexed"
NO_TRACES = "not all traces of the blocks before it are indexed"


def funded_by(parameters: Parameters) -> Reply:
    """Return the transfer, by a transaction or by a contract within one. Raises Failure where an
    earlier one may not be indexed."""
    number, timestamp, transaction_hash, sender, value, is_traced = reader().row(
        "queries/addresses_get_funding", address=parameters.address()
    )
    kept_from = reader().kept_from
    first = kept_from.number if kept_from else reader().first_block
    if first or not is_traced:
        raise Failure(NOT_KNOWN.format(NO_BLOCKS.format(first) if first else NO_TRACES))
    if number is None:
        raise Failure(None, NO_DATA)
    return Reply(
        {
            "block": number,
            "timeStamp": str(timestamp),
            "fundingAddress": to_hex(sender),
            "fundingTxn": to_hex(transaction_hash),
            "value": value,
        }
    )
