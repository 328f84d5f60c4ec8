"""Which of the forms that extensions bring a block has."""

from collections.abc import Iterable, Sequence
from typing import Any

from scan import registry
from scan.ethereum.forms.form import Form, Values
from scan.hex import quantity

# The first form that matches a block is taken: a form that extends another comes before it.
FORMS: Sequence[Form] = sorted(registry.collected("form", "FORMS"), key=lambda form: form.order)
# Mainnet, Holesky, Hoodi, Sepolia.
ETHEREUM_CHAIN_IDS = frozenset((1, 17_000, 560_048, 11_155_111))
LIKE_ETHEREUM = ETHEREUM_CHAIN_IDS.union(
    *(form.chain_ids for form in FORMS if form.is_covered_by_roots)
)
# Signatures cover the chain id, so no field that a node adds gives a block another form.
FORM_OF_CHAIN: dict[int, Form | None] = dict.fromkeys(LIKE_ETHEREUM) | {
    chain_id: form for form in FORMS for chain_id in form.chain_ids
}
ETHEREUM_TYPES = frozenset(("0x0", "0x1", "0x2", "0x3", "0x4", None))
FIRST_PROTECTED_V = 35  # EIP-155
_UNCOVERED_ENDS = {form.has_uncovered_end for form in FORMS if form.has_uncovered_end}
_ENCODINGS = [entry for form in FORMS for entry in form.encodings.items()]
# Types whose hash covers the chain id. Of other types, chainId is no more than the node's claim.
SIGNED_TYPES = frozenset(("0x1", "0x2", "0x3", "0x4")) | {
    hex(type_) for type_, encoding in _ENCODINGS if "chainId" in encoding.transaction
}
_UNSIGNED_TYPES = frozenset(hex(type_) for type_, _ in _ENCODINGS) - SIGNED_TYPES

# The fields of JSON that some form reads.
TRANSACTION_FIELDS = frozenset(
    name for form in FORMS for name in (*form.transaction_fields, *form.signs)
)
RECEIPT_FIELDS = frozenset(
    name for form in FORMS for name in (*form.receipt_fields, *form.shared_fields, *form.signs)
) | {"l1Fee", "payer"}
BLOCK_FIELDS = frozenset(name for form in FORMS for name in form.block_fields)
# Fields that only transactions of a chain's own types have.
_OWN_TYPE_FIELDS = TRANSACTION_FIELDS.difference(
    *(form.transaction_fields for form in FORMS if form.has_fields_of_all_types)
)
# Fields that are read from every block: no sign announces their forms.
HEADER_FIELDS = frozenset(name for form in FORMS if not form.signs for name in form.block_fields)


def chain_id_of(transactions: Sequence[Any]) -> int | None:
    """Return the chain id that the first transaction with one is signed for; where none is, the
    chainId of a transaction whose encoding is unknown; None without either."""
    unverified = None
    for transaction in transactions:
        if transaction.type in ("0x0", None):
            v = quantity(transaction.v or "0x0")
            if v >= FIRST_PROTECTED_V:
                return (v - FIRST_PROTECTED_V) // 2
        elif transaction.chainId is not None:
            if transaction.type in SIGNED_TYPES:
                return quantity(transaction.chainId)
            if unverified is None and transaction.type not in _UNSIGNED_TYPES:
                unverified = quantity(transaction.chainId)
    return unverified


def without_foreign_fields(sent: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of transactions, with None for each field that a transaction's type does
    not have: no root covers a field that a node adds."""
    if _OWN_TYPE_FIELDS.isdisjoint(sent):
        return sent
    types = sent["type"]
    foreign = ETHEREUM_TYPES.difference(*(form.more_types(types) for form in FORMS))
    return {
        **sent,
        **{
            name: tuple(
                None if type_ in foreign else value
                for type_, value in zip(types, values, strict=True)
            )
            for name, values in _present(sent, _OWN_TYPE_FIELDS).items()
        },
    }


def form_of(block: Any, sent: Values, received: Values) -> Form | None:
    """Return the form of a block; None where it is Ethereum's, or unknown."""
    chain_id = chain_id_of(block.transactions)
    if chain_id in FORM_OF_CHAIN:
        form = FORM_OF_CHAIN[chain_id]
        is_shown = form is None or form.shows is None or form.shows(block, sent, received)
        return form if is_shown else None
    if form := _form_by_signs(block, sent, received):
        return form
    for form in FORMS:
        if any(getattr(block, sign) is not None for sign in form.header_signs):
            return form
        if form.is_of and form.is_of(block):
            return form
    return None


def _form_by_signs(block: Any, sent: Values, received: Values) -> Form | None:
    """Return the form of a block by fields that no root covers; None without such a field.

    A receipts' field counts where all receipts of Ethereum's types have it, a transactions' field
    where a transaction of another type has it, or all have it. Of several forms the first that
    encodes the block's types is taken.
    """
    present = {name for name in BLOCK_FIELDS if getattr(block, name, None) is not None}
    in_receipts = _present(received, RECEIPT_FIELDS)
    in_transactions = _present(sent, TRANSACTION_FIELDS)
    if in_receipts or in_transactions:
        is_own = [type_ not in ETHEREUM_TYPES for type_ in sent["type"]]
        for name, values in in_receipts.items():
            if all(own or v is not None for own, v in zip(is_own, values, strict=True)):
                present.add(name)
        for name, values in in_transactions.items():
            having = [own for own, v in zip(is_own, values, strict=True) if v is not None]
            if any(having) or len(having) == len(values):
                present.add(name)
    forms = [form for form in FORMS if not form.signs.isdisjoint(present)]
    own_types = set(sent["type"]) - ETHEREUM_TYPES if sent else set()
    # A form that encodes the types is checked by roots, which signs are not.
    encoding = [form for form in forms if own_types and own_types <= {*map(hex, form.encodings)}]
    return next(iter([*encoding, *forms]), None)


def _present(fields: Values, names: frozenset[str]) -> Values:
    """Return the values of those of the named fields that any record has."""
    return {
        name: fields[name]
        for name in names.intersection(fields)
        if fields[name].count(None) < len(fields[name])
    }


def form_of_records(block: Any, receipts: Sequence[Any]) -> Form | None:
    """Return form_of() a block and receipts given as structs, of which some lack forms' fields."""

    def values(names: Iterable[str], records: Sequence[Any]) -> dict[str, Any]:
        return {name: [getattr(record, name, None) for record in records] for name in names}

    sent = without_foreign_fields(values((*TRANSACTION_FIELDS, "type"), block.transactions))
    return form_of(block, sent, values(RECEIPT_FIELDS, receipts))


def has_uncovered_end(block: Any) -> bool:
    """Return whether the last transaction of a block, given as a struct, is one that some form
    leaves out of roots."""
    return any(is_uncovered(block) for is_uncovered in _UNCOVERED_ENDS)


def require_form(chain_id: int) -> None:
    """Raise SettingError where the form of a chain is of an extension that is off: fees and the
    chain's own types would be wrong."""
    enabled = registry.parts("form")
    for module in registry.parts("form", of_installed=True):
        if module not in enabled and any(chain_id in form.chain_ids for form in module.FORMS):
            raise registry.off(f"the form of chain {chain_id}", module.__name__.split(".")[-2])
