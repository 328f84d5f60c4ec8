"""What the node has of a transaction, for the interfaces that show one."""

from collections.abc import Mapping
from typing import Any

from scan.contracts.transaction_details import TransactionDetails
from scan.ethereum.transaction_contents import TransactionPlace
from scan.http.chain_reads import do_not_cache
from scan.http.services import services


def read_details(record: Mapping[str, Any]) -> TransactionDetails:
    """Of a transaction's record; the response is not cached where asking again may give more."""
    place = TransactionPlace(
        record["hash"], record["blockNumber"], record["blockHash"], record["toAddress"]
    )
    details = services().transaction_details.read(place)
    if details.passing:
        do_not_cache()
    return details
