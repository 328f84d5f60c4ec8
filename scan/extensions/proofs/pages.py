"""Beside an address's balance, and the hash of its code: whether they are proven."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from scan.contracts.account_state import NOT_OFFERED
from scan.errors import HistoryUnavailable, NotFound, Unavailable, UpstreamFailed
from scan.extensions.proofs import queries as proofs
from scan.http.requests import reader
from scan.pages.hooks import AddressSection, Pages
from scan.queries import blocks
from scan.queries.addresses import Address, Balance

TIMEOUT_S = 0.5
TEMPLATES = {"address_balance": "balance_proof.html", "code_hash": "code_proof.html"}


class BalanceProof(NamedTuple):
    """The balance in wei that the node proves, with the hash of the code; None where it proves
    none, and why."""

    wei: str | None
    problem: str | None = None
    code_hash: bytes | None = None


def proof_of_balance(key: bytes, account: Address) -> Mapping[str, Any]:
    return {"balance_proof": _balance_proof(key, account.balance)}


def _balance_proof(key: bytes, balance: Balance) -> BalanceProof:
    if balance.known is None or reader().has_node_failed:
        return BalanceProof(None, "The node does not respond.")
    try:
        block = blocks.find(reader(), balance.known.block)
        account = proofs.account(reader(), key, block, timeout_s=TIMEOUT_S)
    except (HistoryUnavailable, NotFound, Unavailable, UpstreamFailed) as error:
        if error.message != NOT_OFFERED:  # another request may get a proof
            reader().do_not_cache()
        return BalanceProof(None, error.message)
    return BalanceProof(str(account.balance), code_hash=account.code_hash)


HOOKS = Pages(
    sections=(
        AddressSection(
            {"address_balance": "balance_proof.html", "code_hash": "code_proof.html"},
            proof_of_balance,
        ),
    )
)
