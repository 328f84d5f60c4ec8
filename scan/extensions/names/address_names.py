"""Primary names for records of addresses and for lists."""

from collections.abc import Mapping, Sequence

from scan import hooks
from scan.extensions.names.primary_names import Names, Primary
from scan.queries.address_names import AddressName
from scan.queries.reader import Reader


def of_addresses(reader: Reader, addresses: Sequence[bytes]) -> Mapping[bytes, AddressName] | None:
    known = reader.sources.get(Names)
    if known.service(reader) is None:
        return None
    primary = known.primary(reader, addresses)
    return {key: address_name(primary.get(key, Primary(None))) for key in addresses}


def in_list(reader: Reader, addresses: Sequence[bytes]) -> Mapping[bytes, str]:
    return reader.sources.get(Names).in_list(reader, addresses)


def address_name(primary: Primary) -> AddressName:
    problem = None if primary.problem is None else str(primary.problem.value)
    return AddressName(primary.name, problem)


HOOKS = hooks.AddressNames(of_addresses=of_addresses, in_list=in_list)
