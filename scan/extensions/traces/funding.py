"""The first transfer of coin to an address, by a transaction or by a contract within one."""

from typing import NamedTuple

from scan.errors import NotFound
from scan.hex import to_hex
from scan.http.current_request import reader as current_reader
from scan.pages import hooks
from scan.parameters import moment
from scan.queries.addresses import Address
from scan.queries.reader import Reader

NO_BLOCKS = "transactions before block {} are not indexed"
NO_TRACES = "not all traces of the blocks before it are indexed"


class Funding(NamedTuple):
    block_number: int
    timestamp_s: int
    transaction_hash: bytes
    from_address: bytes
    value_wei: str

    @property
    def time(self) -> str:
        """Return the time as ISO 8601."""
        return moment(self.timestamp_s)


def first_funding(reader: Reader, address: bytes) -> Funding | None:
    """Return the transfer, None where nothing was sent; raises NotFound, whose message is the
    reason, where an earlier one may not be indexed."""
    *found, is_traced = reader.row("queries/addresses_get_funding", address=address)
    kept_from = reader.kept_from_of(address)
    first = kept_from.number if kept_from else reader.first_block
    if first or not is_traced:
        raise NotFound(NO_BLOCKS.format(first) if first else NO_TRACES)
    return None if found[0] is None else Funding(*found)


def funding_head(key: bytes, _account: Address) -> hooks.Shown:
    """Return the value of address_funding.html, None where it is not known either."""
    try:
        funding = first_funding(current_reader(), key)
    except NotFound:
        funding = None
    return hooks.Shown({"funding": funding}, [to_hex(funding.from_address)] if funding else ())
