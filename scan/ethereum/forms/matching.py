"""Which of the forms that extensions bring a block has."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from itertools import chain
from typing import Any, NamedTuple

from scan import registry
from scan.cached_values import LazyMapping, LazySequence
from scan.ethereum import block_encoding, hooks, rlp_and_tries
from scan.ethereum.forms.form import Encoding, Form, Values
from scan.hex import data

# The first form that matches a block is taken: a form that extends another comes before it.
FORMS: Sequence[Form] = LazySequence(
    lambda: sorted(
        (form for part in registry.parts(hooks.Forms) for form in part.forms),
        key=lambda form: form.order,
    )
)
# Mainnet, Holesky, Hoodi, Sepolia.
ETHEREUM_CHAIN_IDS = frozenset((1, 17_000, 560_048, 11_155_111))
LIKE_ETHEREUM: Sequence[int] = LazySequence(
    lambda: ETHEREUM_CHAIN_IDS.union(
        *(form.chain_ids for form in FORMS if form.is_covered_by_roots)
    )
)
# By chain id, so no field that a node adds gives a block of these chains another form.
FORM_OF_CHAIN: Mapping[int | None, Form | None] = LazyMapping(
    lambda: {
        **dict.fromkeys(LIKE_ETHEREUM),
        **{chain_id: form for form in FORMS for chain_id in form.chain_ids},
    }
)
ETHEREUM_TYPES = frozenset(("0x0", "0x1", "0x2", "0x3", "0x4", None))
FIRST_PROTECTED_V = 35  # EIP-155
# Forms that have one type have one tail; receipts of other forms lack its fields.
RECEIPT_TAILS: Mapping[int, Encoding] = LazyMapping(
    lambda: {
        number: encoding
        for form in FORMS
        for number, encoding in form.encodings.items()
        if encoding.receipt_tail
    }
)


class FormFields(NamedTuple):
    """The fields of JSON that some form reads; `signs` announce a form, and `of_types` are of
    transactions of a chain's own types alone. Those of `headers` are read from every block: no sign
    announces their forms."""

    transactions: frozenset[str]
    receipts: frozenset[str]
    blocks: frozenset[str]
    headers: frozenset[str]
    signs: frozenset[str]
    of_types: frozenset[str]


@cache
def form_fields() -> FormFields:
    def named(read: Callable[[Form], Iterable[str]]) -> frozenset[str]:
        return frozenset(name for form in FORMS for name in read(form))

    transactions = named(lambda f: (*f.transaction_fields, *f.signs))
    return FormFields(
        transactions,
        named(lambda f: (*f.receipt_fields, *f.shared_fields, *f.signs)) | {"l1Fee", "payer"},
        blocks=named(lambda f: f.block_fields),
        headers=named(lambda f: () if f.signs else f.block_fields),
        signs=named(lambda f: f.signs),
        of_types=transactions
        - named(lambda f: f.transaction_fields if f.has_fields_of_all_types else ()),
    )


def without_foreign_fields(sent: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of transactions, with None for each field that a transaction's type does
    not have: no root covers a field that a node adds."""
    of_types = form_fields().of_types
    if of_types.isdisjoint(sent):
        return sent
    types = sent["type"]
    foreign = ETHEREUM_TYPES.difference(*(form.more_types(types) for form in FORMS))
    return sent | {
        name: tuple(None if t in foreign else v for t, v in zip(types, values, strict=True))
        for name, values in _present(sent, of_types).items()
    }


_NO_TRANSACTIONS: Values = {"type": (), "from": ()}


class Match(NamedTuple):
    """The form of a block, None where it is Ethereum's, and whether the chain id, the header or a
    root shows it; else fields do that no hash covers."""

    form: Form | None
    is_proven: bool


def match(block: Any, sent: Values, received: Values, chain_id: int | None) -> Match:
    """Return the form of a block by its chain's id; where that is of no known chain, by the header,
    by a root, and else by fields that no hash covers."""
    if chain_id in FORM_OF_CHAIN:
        form = FORM_OF_CHAIN[chain_id]
        sent = sent or _NO_TRANSACTIONS
        is_shown = form is None or form.shows is None or form.shows(block, sent, received)
        return Match(form if is_shown else None, is_proven=True)
    for form in FORMS:
        has_sign = any(getattr(block, sign) is not None for sign in form.header_signs)
        if has_sign or (form.is_of_header and form.is_of_header(block)):
            return Match(form, is_proven=True)
    own_types = {t.type for t in block.transactions} - ETHEREUM_TYPES
    encoding = [form for form in FORMS if own_types and own_types <= {*map(hex, form.encodings)}]
    # Of several forms that give the root, the one that encodes the fewest types.
    for form in sorted(encoding, key=lambda form: len(form.encodings)):
        with suppress(ValueError, TypeError, block_encoding.Unencodable):
            leaves = block_encoding.encode_transactions(block.transactions, form.encodings)
            if rlp_and_tries.list_root(leaves) == data(block.transactionsRoot):
                return Match(form, is_proven=True)
    # The fields of forms that no root covers, each with whether it counts as a sign: a receipts'
    # field where all receipts of Ethereum's types have it, a transactions' field where a
    # transaction of another type has it, or all have it.
    fields = form_fields()
    signs = {name: True for name in fields.blocks if getattr(block, name, None) is not None}
    others = [type_ not in ETHEREUM_TYPES for type_ in sent.get("type", ())]
    for name, values in _present(received, fields.receipts).items():
        signs[name] = all(other or v is not None for other, v in zip(others, values, strict=True))
    for name, values in _present(sent, fields.transactions).items():
        having = [other for other, v in zip(others, values, strict=True) if v is not None]
        signs[name] = any(having) or len(having) == len(values)
    counting = {name for name, counts in signs.items() if counts}
    signed = [form for form in FORMS if not form.signs.isdisjoint(counting)]
    by_fields = (form for form in FORMS if form.is_of and form.is_of(block))
    likeliest = chain((form for form in signed if form in encoding), signed, by_fields)
    form = next(likeliest, None)
    return Match(form, form is None and fields.signs.isdisjoint(signs))


def _present(fields: Values, names: frozenset[str]) -> Values:
    """Return the values of those of the named fields that any record has."""
    return {
        name: fields[name]
        for name in names.intersection(fields)
        if fields[name].count(None) < len(fields[name])
    }


def match_of_records(
    block: Any, receipts: Sequence[Any], chain_id: int | None, *, are_plain: bool = False
) -> Match:
    """Return match() of a block and receipts given as structs, of which some lack forms' fields:
    all of them where they `are_plain`."""
    fields = form_fields()
    names = ("type", "from") if are_plain else (*fields.transactions, "type", "from")
    sent, received = (
        {name: [getattr(record, name, None) for record in records] for name in read}
        for read, records in (
            (names, block.transactions),
            (() if are_plain else fields.receipts, receipts),
        )
    )
    return match(block, without_foreign_fields(sent), received, chain_id)


def has_uncovered_end(block: Any) -> bool:
    """Return whether the last transaction of a block, given as a struct, is one that some form
    leaves out of roots."""
    return any(form.has_uncovered_end(block) for form in FORMS if form.has_uncovered_end)


def require_form(chain_id: int) -> None:
    """Raise SettingError where the form of a chain is of an extension that is off: fees and the
    chain's own types would be wrong."""
    for name, part in registry.by_extension(hooks.Forms, of_installed=True):
        is_off = name not in registry.enabled()
        if is_off and any(chain_id in form.chain_ids for form in part.forms):
            raise registry.off(f"the form of chain {chain_id}", name)
