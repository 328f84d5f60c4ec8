"""Who may call a contract's functions: of its own source, and of a proxy's implementations."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import orjson

from scan.contracts.abi import selector
from scan.contracts.proxy_contracts import ADMIN_SLOT, Proxy
from scan.errors import NotFound
from scan.extensions.permissions import authorities, present_accounts
from scan.extensions.permissions.authorities import PUBLIC_ROLE, Answer, Question
from scan.extensions.permissions.present_accounts import Members, Role, account, key_of
from scan.hex import quantity, to_hex
from scan.queries import blocks, contracts
from scan.queries.reader import Reader
from scan.verification.permissions.caller_conditions import ACCOUNT, AUTHORITY, ROLE

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
    callers = [_Caller(address, *of_function, read) for of_function in _callers(sources)]
    questions = [caller.question for caller in callers if caller.question]
    answers = authorities.answers(reader, address, block, questions)
    roles = [role for caller in callers if (role := caller.role(answers))]
    members = present_accounts.members(reader, block, roles)
    for caller in callers:
        caller.complete(answers, members)
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


def _callers(sources: Sequence[Source]) -> Iterator[tuple[str, Record]]:
    """Yield whom conditions let pass, each with the function that it is checked in."""
    for source in sources:
        for function in source.functions or ():
            for condition in function["conditions"]:
                for caller in condition["callers"]:
                    yield function["function"], caller


def _steps(sources: Sequence[Source]) -> Iterator[Sequence[Mapping[str, Any]]]:
    for _, caller in _callers(sources):
        if caller["reads"] and caller["value"] is None:
            yield caller["reads"]


class _Caller(NamedTuple):
    """Whom a condition of a function lets pass, and the words that were read."""

    contract: bytes
    function: str
    record: Record
    read: Mapping[Any, int]

    @property
    def number(self) -> int | None:
        """The value of an account or role: of the source where it is constant, else as read."""
        if self.record["value"] is not None:
            return int(self.record["value"], 16)
        return self.read.get(key_of(self.record["reads"])) if self.record["reads"] else None

    @property
    def account(self) -> bytes | None:
        """The account that may call, or the authority that says who may."""
        return account(self.number) if self.record["kind"] in (ACCOUNT, AUTHORITY) else None

    @property
    def question(self) -> Question | None:
        is_asked = self.record.get("question") and "(" in self.function
        authority = self.account if is_asked else None
        return None if authority is None else Question(authority, selector(self.function))

    def role(self, answers: Mapping[Question, Answer]) -> Role | None:
        number = self.number
        if self.record["kind"] == ROLE and number is not None:
            return Role(self.contract, number)
        answer = answers.get(self.question) if self.question else None
        if answer is None or self.account is None or answer.role in (None, PUBLIC_ROLE):
            return None
        return Role(self.account, answer.role, is_managed=True)

    def complete(self, answers: Mapping[Question, Answer], members: Mapping[Role, Members]) -> None:
        """Replace how the caller is read by what was read."""
        record, holder, number = self.record, self.account, self.number
        question, role = self.question, self.role(answers)
        answer = answers.get(question) if question else None
        of_role = members.get(role) if role else None
        for name in ("reads", "value", "question"):
            record.pop(name, None)
        record.setdefault("forwarder", False)  # as in records of older verifications
        record["account"] = holder and to_hex(holder)
        is_role = record["kind"] == ROLE and number is not None
        record["role"] = f"0x{number:064x}" if is_role else None
        record["members"] = [*map(to_hex, of_role.accounts)] if of_role else None
        record["membersComplete"] = of_role.is_complete if of_role else None
        record["authority"] = answer and {
            "role": None if answer.role is None else str(answer.role),
            "everybody": answer.is_everybody,
            "closed": answer.is_closed,
        }


def addresses_in(permissions: ContractPermissions) -> Iterator[str]:
    """Yield the addresses that are shown of a contract's permissions."""
    yield from (to_hex(a) for a in (permissions.admin, permissions.admin_owner) if a)
    yield from (source.address for source in permissions.sources)
    for _, caller in _callers(permissions.sources):
        yield from filter(None, [caller["account"], *(caller["members"] or ())])
