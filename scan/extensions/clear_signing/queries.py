"""What transactions' calls are for, by the operator's descriptors."""

from collections.abc import Mapping
from typing import Any

from scan.contracts.abi import AbiError
from scan.extensions.clear_signing.call_description import (
    Call,
    Description,
    addresses_in,
    describe,
    select,
)
from scan.extensions.clear_signing.descriptors import Descriptors, StillReading
from scan.extensions.clear_signing.value_paths import DoesNotFit
from scan.extensions.transaction_details import queries as transaction_details
from scan.extensions.transaction_details.details import NO_LOGS
from scan.extensions.transaction_details.explanations.summary_parts import Names
from scan.hex import data
from scan.queries import addresses, network
from scan.queries.reader import Reader


def of_transaction(reader: Reader, record: Mapping[str, Any]) -> Description | None:
    """Return what a transaction's call is for; None where no descriptor fits it, and where the node
    does not have its calldata."""
    to_address, method_id = record["toAddress"], record["methodId"]
    chain_id = reader.sources.chain_id.read()
    if not (to_address and method_id and chain_id):
        return None
    selector = data(method_id, 4)
    try:
        descriptors = reader.sources.get(Descriptors)
        descriptor = descriptors.find(chain_id, data(to_address, 20), selector)
    except StillReading:
        reader.do_not_cache()
        return None
    if descriptor is None:
        return None
    details = transaction_details.details(reader, record, NO_LOGS)
    if details.input is None:
        return None
    call = Call(
        chain_id,
        record["fromAddress"],
        to_address,
        int(record["value"]),
        details.input,
        details.method,
    )
    format_ = descriptor.formats[selector]
    try:
        selected = select(format_, call)
    except (DoesNotFit, AbiError):
        return None
    keys = [data(address, 20) for address in {*addresses_in(selected)}]
    names = Names(addresses.parties(reader, keys), network.coin_symbol(reader))
    return describe(descriptor, format_, selected, names)
