"""What a chain's form is made of, and what becomes of fees on Ethereum itself. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.hex import BadHex, data, excerpt, quantity

BLOB_GAS = 131_072  # EIP-4844
PLACE_BITS = 20  # of an ordinal, for a row's place in its block: first_ordinal_in() of sql/schema
MINT, FEE_VAULT, MINING_REWARD, UNCLE_REWARD = range(4)  # types of credits, as in sql/lists.toml
_is_decimal = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,4})?\Z").match

Values = Mapping[str, Sequence[Any]]  # of each field, of all transactions or receipts of a block
Reader = Callable[[Any], Any]  # of a field's value, as it stands in `chain_fields`; raises BadHex


class Credit(NamedTuple):
    """Coin that an address got in a block besides its rows; a row of the table of that name."""

    ordinal: int
    block_number: int
    transaction_index: int | None  # None: for all transactions of the block together
    type: int
    address: bytes
    amount_wei: int


class Settlement(NamedTuple):
    """What became of what the transactions of a block paid: columns of its row, and credits."""

    producer_fees: int
    burnt_fees: int | None
    blob_fees: int | None
    credits: tuple[Credit, ...] = ()


class Encoding(NamedTuple):
    """How consensus encodes a type of transaction and its receipt: fields of JSON, in order."""

    transaction: tuple[str, ...]
    receipt_tail: tuple[str, ...] = ()  # after Ethereum's fields, of a receipt that has all of them


def number(value: Any) -> str:
    """Return an unsigned integer, in decimal."""
    return str(quantity(value))


def hash_(value: Any) -> str:
    return "0x" + data(value, 32).hex()


def address(value: Any) -> str:
    return "0x" + data(value, 20).hex()


def data_(value: Any) -> str:
    return "0x" + data(value).hex()


def flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadHex(f"not a boolean: {excerpt(value)}")
    return value


def decimal(value: Any) -> str:
    """Return a number that the chain's node writes in decimal, such as the scalar of early OP
    Stack."""
    if not isinstance(value, str) or not _is_decimal(value):
        raise BadHex(f"not a decimal number: {excerpt(value)}")
    return value


def no_amounts(block: Any, sent: Values, received: Values) -> list[Any]:
    return [None] * len(sent["hash"])


def no_fields(block: Any, sent: Values) -> dict[str, Any]:
    return {}


def produced(transactions: Sequence[Any], base_fee: int | None) -> int:
    """Return what transactions paid for gas beyond the base fee."""
    floor = base_fee or 0
    return sum([(t.gas_price - floor) * t.gas_used for t in transactions if t.gas_price > floor])


def blob_fees(transactions: Sequence[Any]) -> int | None:
    fees = [
        BLOB_GAS * len(t.blob_versioned_hashes) * int.from_bytes(t.blob_gas_price)
        for t in transactions
        if t.blob_gas_price is not None
    ]
    return sum(fees) if fees else None


def settle_by_ethereum(block: Any) -> Settlement:
    """The producer gets what is beyond the base fee; base fees (EIP-1559) and what blobs cost
    (EIP-4844) are burnt."""
    base_fee = block.base_fee_per_gas
    return Settlement(
        produced(block.transactions, base_fee),
        None if base_fee is None else base_fee * block.gas_used,
        blob_fees(block.transactions),
    )


class Form(NamedTuple):
    """What the blocks of a chain have beyond Ethereum's.

    A block of it is known by `chain_ids`; on chains of other ids by `header_signs`, fields that
    its hash covers, by `is_of`, and by `signs`, fields that no root covers. Fields that the
    receipts of a block have in common, `shared_fields`, are stored with the block.
    """

    name: str
    signs: frozenset[str] = frozenset()
    chain_ids: frozenset[int] = frozenset()
    header_signs: tuple[str, ...] = ()
    is_of: Callable[[Any], bool] | None = None  # of a block's struct
    # Whether a block that names one of `chain_ids` is of the chain: test nodes take any id.
    shows: Callable[[Any, Values, Values], bool] | None = None
    type_names: Mapping[int, str] = {}
    transaction_fields: Mapping[str, Reader] = {}
    receipt_fields: Mapping[str, Reader] = {}
    shared_fields: Mapping[str, Reader] = {}
    block_fields: Mapping[str, Reader] = {}
    # Parts of each fee besides gas and blobs, as QUANTITY and as int; None: it has no such part.
    l1_fees: Callable[[Any, Values, Values], Sequence[Any]] = no_amounts
    operator_fees: Callable[[Any, Values, Values], Sequence[int | None]] = no_amounts
    # What each transaction brought to its sender, as QUANTITY.
    mints: Callable[[Any, Values, Values], Sequence[Any]] = no_amounts
    # Which transactions paid for gas in something else than the coin.
    pays_in_tokens: Callable[[Values], Sequence[bool]] | None = None
    # Which transactions pay nothing, whatever their price.
    is_free: Callable[[Values], Sequence[bool]] | None = None
    settle: Callable[[Any], Settlement] = settle_by_ethereum
    own_fields: Callable[[Any, Values], dict[str, Any]] = no_fields  # of the block, made of others
    encodings: Mapping[int, Encoding] = {}  # of types that Ethereum does not have, where known
    # What moves coin unseen there: a sentence for people whose history does not add up.
    unseen: str = ""
    withdrawal_unit: str | None = None  # what withdrawals are of; None: of the coin
    message_event: Any = None  # by which messages to L1 are known: messages.MessageEvent
    # Blocks list no withdrawals; withdrawalsRoot may be that of a contract's storage.
    withdraws_to_l1: bool = False

    def chain_fields_of_transactions(
        self,
        types: Sequence[bytes],
        sent: Values,
        received: Values,
        fees_in_tokens: Sequence[int | None],
    ) -> list[str | None]:
        """JSON of each transaction; None where it has nothing of the chain's own."""
        columns = [
            (name, read, values[name])
            for fields, values in (
                (self.transaction_fields, sent),
                (self.receipt_fields, received),
            )
            for name, read in fields.items()
            if values[name].count(None) < len(types)
        ]
        texts: list[str | None] = []
        for index, type_ in enumerate(types):
            fields = _read({name: (read, values[index]) for name, read, values in columns})
            type_name = self.type_names.get(int.from_bytes(type_))
            if type_name is not None:
                fields["typeName"] = type_name
            if fees_in_tokens[index] is not None:
                fields["feeInFeeCurrency"] = str(fees_in_tokens[index])
            texts.append(_text(fields))
        return texts

    def chain_fields_of_block(self, block: Any, sent: Values, received: Values) -> str | None:
        fields = _read(
            {name: (read, getattr(block, name, None)) for name, read in self.block_fields.items()}
        )
        for name, read in self.shared_fields.items():
            present = [value for value in received.get(name, ()) if value is not None]
            fields |= _read({name: (read, present[0] if present else None)})
        return _text(fields | self.own_fields(block, sent))


def mint_credits(block: Any) -> list[tuple[int | None, int, bytes, int]]:
    """Return what deposits brought to their senders, in the order of credits."""
    return [
        (t.transaction_index, MINT, t.from_address, int.from_bytes(t.mint))
        for t in block.transactions
        if t.mint
    ]


def numbered(
    block: Any, credits: Sequence[tuple[int | None, int, bytes, int]], offset: int = 0
) -> tuple[Credit, ...]:
    """Return those that are not 0, with their ordinals from an offset in their block on."""
    first = (block.number << PLACE_BITS) + offset
    present = [credit for credit in credits if credit[-1]]
    return tuple(
        [
            Credit(ordinal, block.number, index, type_, holder, amount)
            for ordinal, (index, type_, holder, amount) in enumerate(present, first)
        ]
    )


def _read(fields: Mapping[str, tuple[Reader, Any]]) -> dict[str, Any]:
    values = {}
    for name, (read, value) in fields.items():
        if value is not None:
            # No sum has these: one that another chain gives another meaning is left out.
            with suppress(BadHex, TypeError):
                values[name] = read(value)
    return values


def _text(fields: Mapping[str, Any]) -> str | None:
    return json.dumps(fields, separators=(",", ":")) if fields else None
