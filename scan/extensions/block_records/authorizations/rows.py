"""Authorizations (EIP-7702): accounts that let code of another address run in their name. Pure.

An entry of a transaction's authorizationList takes effect, also where the transaction fails, unless
the protocol passes over it. Faults that the entry alone shows are found here; the others depend on
the account's nonce and code at that moment: sql/schema/changes.sql.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Annotated, Any, NamedTuple

from scan.ethereum.blocks import DecodedBlock, MalformedBlock
from scan.ethereum.column_types import (
    ADDRESS,
    BIGINT,
    COMPUTED,
    INTEGER,
    PROVEN,
    TEXT,
    UNSIGNED,
    Column,
)
from scan.ethereum.forms.form import PLACE_BITS
from scan.ethereum.rlp_and_tries import keccak256, list_item, quantity_item, string_item
from scan.ethereum.signatures import Signature, recover_signer
from scan.ethereum.sparse_tables import SparseTable
from scan.hex import BadHex, data
from scan.indexer.hooks import Rows

MAX_NONCE = 2**64 - 1  # the largest nonce of an account (EIP-2681)
_MAGIC = "05"  # the first byte of the signed message


class Authorization(NamedTuple):
    """An entry of an authorizationList, as its row has it. Integers are encoded as UNSIGNED."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    transaction_index: Annotated[int, Column(INTEGER, PROVEN)]
    authorization_index: Annotated[int, Column(INTEGER, PROVEN)]
    chain_id: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    # Whose code runs; the zero address ends a delegation.
    delegate: Annotated[bytes, Column(ADDRESS, PROVEN)]
    nonce: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    y_parity: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    signature_r: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    signature_s: Annotated[bytes, Column(UNSIGNED, PROVEN)]
    # The signer; None where the signature is invalid.
    authority: Annotated[bytes | None, Column(ADDRESS, COMPUTED)]
    # Why the protocol passes over it, whatever the account's state.
    fault: Annotated[str | None, Column(TEXT, COMPUTED)]


def read_authorizations(
    block_number: int, lists: Iterable[tuple[int, Sequence[Any], bytes]]
) -> Iterator[Authorization]:
    """Yield the authorizations of a block in their order.

    `lists` has the index, authorizationList and chain id of each transaction. Raises BadHex,
    KeyError or TypeError for a malformed entry.
    """
    ordinals = count(block_number << PLACE_BITS)
    for index, entries, chain_id in lists:
        for authorization_index, entry in enumerate(entries):
            position = next(ordinals), block_number, index, authorization_index
            yield Authorization(*position, *_read(entry, chain_id))


def _read(entry: Any, chain_id: bytes) -> tuple[Any, ...]:
    """Return the fields of an Authorization from `chain_id` on."""
    numbers = {
        name: UNSIGNED.read(entry[name]) for name in ("chainId", "nonce", "yParity", "r", "s")
    }
    if len(numbers["nonce"]) > 8 or len(numbers["yParity"]) > 1:
        raise BadHex("an authorization's nonce or yParity is out of range")
    delegate = data(entry["address"], 20)
    signature = Signature(*(int.from_bytes(numbers[name]) for name in ("yParity", "r", "s")))
    authority = None
    if signature.is_in_range:
        authority = recover_signer(_signed_hash(entry), signature)
    return (
        numbers["chainId"],
        delegate,
        *(numbers[name] for name in ("nonce", "yParity", "r", "s")),
        authority,
        _fault(numbers, authority, chain_id),
    )


def _fault(numbers: dict[str, bytes], authority: bytes | None, chain_id: bytes) -> str | None:
    """Return the first fault, in the order in which EIP-7702 checks them; None without one."""
    if numbers["chainId"] not in (b"", chain_id):
        return "wrong_chain"
    if int.from_bytes(numbers["nonce"]) == MAX_NONCE:
        return "nonce_limit"
    return "invalid_signature" if authority is None else None


def _signed_hash(entry: Any) -> bytes:
    chain_id, nonce = quantity_item(entry["chainId"]), quantity_item(entry["nonce"])
    return keccak256(
        bytes.fromhex(_MAGIC + list_item(chain_id + string_item(entry["address"]) + nonce))
    )


def authorizations_in(block: DecodedBlock) -> list[Authorization]:
    """Return the authorizations of a block. Raises MalformedBlock."""
    try:
        authorizations = [*read_authorizations(block.number, block.authorization_lists)]
    except (BadHex, KeyError, TypeError) as error:
        raise MalformedBlock(f"block {block.number}: {type(error).__name__}: {error}") from error
    if len(authorizations) >> PLACE_BITS:
        raise MalformedBlock(f"block {block.number}: its authorizations are too many")
    return authorizations


HOOKS = Rows(
    tables={
        "authorizations": SparseTable(
            Authorization,
            lambda block, _: authorizations_in(block),
            filled_later=("authority_nonce", "is_valid"),
        )
    },
)
