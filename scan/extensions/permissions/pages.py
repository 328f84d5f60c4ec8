"""The tab of a contract with who may call its functions."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scan.errors import HistoryUnavailable, NotFound, Unavailable, UpstreamFailed
from scan.extensions.permissions import queries
from scan.extensions.permissions.queries import ContractPermissions, Source
from scan.hex import to_hex
from scan.http.requests import reader
from scan.pages.address_head import of_contract
from scan.pages.formatting import file_anchor
from scan.pages.hooks import CONTRACT, AddressTab, Pages
from scan.pages.records import names_of
from scan.verification.permissions.contract_permissions import ACCESSES


class ShownSource(NamedTuple):
    """A source, with its functions by who may call them, and the anchor of each of its files."""

    source: Source
    by_access: Mapping[str, Sequence[Mapping[str, Any]]]
    anchors: Mapping[str, str]


def _read(key: bytes) -> tuple[None, Mapping[str, Any]]:
    problem, permissions = None, None
    try:
        permissions = queries.of(reader(), key)
    except (NotFound, UpstreamFailed, Unavailable, HistoryUnavailable) as error:
        problem = error.message
        if not isinstance(error, NotFound):
            reader().do_not_cache()
    shown = queries.addresses_in(permissions) if permissions else ()
    return None, {
        "permissions": permissions,
        "permission_sources": _shown(permissions) if permissions else (),
        "problem": problem,
        "names": names_of([], to_hex(key), *shown),
    }


def _shown(permissions: ContractPermissions) -> list[ShownSource]:
    return [
        ShownSource(
            source,
            {
                access: [f for f in source.functions or () if f["access"] == access]
                for access in ACCESSES
            },
            {path: f"{file_anchor(index)}L" for index, path in enumerate(source.paths)},
        )
        for source in permissions.sources
    ]


HOOKS = Pages(
    tabs=(
        AddressTab(
            "permissions",
            "Permissions",
            115,
            of_contract,
            template="address_permissions.html",
            read=_read,
            group=CONTRACT,
        ),
    ),
)
