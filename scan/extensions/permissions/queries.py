"""Who may call a contract's functions: of its own source, and of a proxy's implementations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.proxy_contracts import ADMIN_SLOT, Proxy
from scan.errors import NotFound
from scan.extensions.permissions import present_accounts
from scan.extensions.permissions.present_accounts import Members, account, key_of
from scan.hex import quantity, to_hex
from scan.queries import blocks, contracts
from scan.queries.reader import Reader

MAX_IMPLEMENTATIONS = 8
NOT_VERIFIED = "The contract at this address is not verified."
# How the admin of a proxy (ERC-1967) is read, and the owner of that admin.
_ADMIN = ({"slot": str(quantity(ADMIN_SLOT)), "offset": 0, "size": 20},)
_ADMIN_OWNER = (*_ADMIN, {"call": "owner()"})

Record = dict[str, Any]


class Source(NamedTuple):
    """The source of the code at an address: of `address` itself, or of an implementation.
    `functions` is None where conditions are not known of it; `paths` are its files."""

    address: str
    is_verified: bool
    functions: Sequence[Record] | None
    is_truncated: bool
    paths: Sequence[str]


class ContractPermissions(NamedTuple):
    """The functions of a contract at a block. `admin` is a proxy's (ERC-1967), `admin_owner` who
    owns that, if it is a contract with an owner()."""

    address: bytes
    block: int
    proxy: Proxy | None
    admin: bytes | None
    admin_owner: bytes | None
    sources: Sequence[Source]

    def record(self) -> Record:
        return {
            "address": to_hex(self.address),
            "block": self.block,
            "implementations": [*map(to_hex, self.proxy.implementations)] if self.proxy else [],
            "admin": self.admin and to_hex(self.admin),
            "adminOwner": self.admin_owner and to_hex(self.admin_owner),
            "sources": [
                {
                    "address": source.address,
                    "verified": source.is_verified,
                    "functions": source.functions,
                    "truncated": source.is_truncated,
                }
                for source in self.sources
            ],
        }


def of(reader: Reader, address: bytes) -> ContractPermissions:
    """Return who may call the functions of a contract after the newest indexed block.

    Raises NotFound where neither it nor an implementation is verified, UpstreamFailed, Unavailable,
    HistoryUnavailable.
    """
    contract = contracts.get(reader, address, {"code"})
    proxy = contracts.proxy_of(reader, address, contract).proxy
    implementations = proxy.implementations[:MAX_IMPLEMENTATIONS] if proxy else ()
    sources = _sources(reader, [address, *implementations])
    newest = blocks.newest_number(reader)
    if newest is None or not any(source.is_verified for source in sources):
        raise NotFound(NOT_VERIFIED, field="address")
    block = blocks.find(reader, newest)
    of_admin = (_ADMIN, _ADMIN_OWNER) if proxy is not None else ()
    wanted = [key_of(steps) for steps in (*of_admin, *_steps(sources))]
    read = present_accounts.values(reader, address, block, wanted)
    members = present_accounts.members(reader, address, block, _roles(sources, read))
    _complete(sources, read, members)
    admin = account(read.get(key_of(_ADMIN)))
    has_admin = proxy is not None and admin is not None and any(admin)
    return ContractPermissions(
        address,
        block.number,
        proxy,
        admin if has_admin else None,
        account(read.get(key_of(_ADMIN_OWNER))) if has_admin else None,
        sources,
    )


def _sources(reader: Reader, addresses: Sequence[bytes]) -> list[Source]:
    (text,) = reader.row("queries/contract_permissions_list", addresses=list(addresses))
    return [
        Source(
            row["address"],
            row["verified"],
            row["permissions"] and row["permissions"]["functions"],
            bool(row["permissions"] and row["permissions"]["truncated"]),
            row["paths"] or (),
        )
        for row in orjson.loads(text)
    ]


def _callers(sources: Sequence[Source]) -> Iterator[Record]:
    for source in sources:
        for function in source.functions or ():
            for condition in function["conditions"]:
                yield from condition["callers"]


def _steps(sources: Sequence[Source]) -> Iterator[Sequence[Mapping[str, Any]]]:
    for caller in _callers(sources):
        if caller["reads"] and caller["value"] is None:
            yield caller["reads"]


def _number(caller: Record, read: Mapping[Any, int]) -> int | None:
    """Return the value of an account or role: of the source where it is constant, else as read."""
    if caller["value"] is not None:
        return int(caller["value"], 16)
    return read.get(key_of(caller["reads"])) if caller["reads"] else None


def _roles(sources: Sequence[Source], read: Mapping[Any, int]) -> Iterator[int]:
    for caller in _callers(sources):
        number = _number(caller, read) if caller["kind"] == "role" else None
        if number is not None:
            yield number


def _complete(
    sources: Sequence[Source], read: Mapping[Any, int], members: Mapping[int, Members]
) -> None:
    """Replace how callers are read by what was read."""
    for caller in _callers(sources):
        number = _number(caller, read)
        del caller["reads"], caller["value"]
        is_account = caller["kind"] == "account"
        holder = account(number) if is_account else None
        known = members.get(number) if caller["kind"] == "role" and number is not None else None
        caller["account"] = holder and to_hex(holder)
        caller["role"] = None if number is None or is_account else f"0x{number:064x}"
        caller["members"] = [*map(to_hex, known.accounts)] if known else None
        caller["membersComplete"] = known.is_complete if known else None


def addresses_in(permissions: ContractPermissions) -> Iterator[str]:
    """Yield the addresses that are shown of a contract's permissions."""
    yield from (to_hex(a) for a in (permissions.admin, permissions.admin_owner) if a)
    yield from (source.address for source in permissions.sources)
    for caller in _callers(permissions.sources):
        yield from filter(None, [caller["account"], *(caller["members"] or ())])
