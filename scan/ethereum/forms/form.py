"""The parts of a chain's form, and how Ethereum itself settles fees. Pure."""

import json
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any, NamedTuple, Protocol

from scan.ethereum.column_types import ADDRESS, BIGINT, COMPUTED, INTEGER, SMALLINT, UINT256, Column
from scan.hex import BadHex, data, excerpt, quantity

NEWEST_TYPE = b"\4"  # of Ethereum's own transactions
BLOB_GAS = 131_072  # EIP-4844
# An ordinal's low bits, which hold a row's place in its block: first_ordinal_in() of sql/schema.
PLACE_BITS = 20
VANITY_BYTES, SEAL_BYTES = 32, 65  # of extraData where a block's signer seals it
# Types of credits, as in sql/lists.toml.
MINT, FEE_VAULT, MINING_REWARD, UNCLE_REWARD, BURN = range(5)
_is_decimal = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,4})?\Z").match

Values = Mapping[str, Sequence[Any]]  # by field, the values of all transactions or receipts
Reader = Callable[[Any], Any]  # returns a field's value as `chain_fields` has it; raises BadHex


class Credit(NamedTuple):
    """Coin that an address got in a block without a transfer, or lost if it is a BURN; a row of the
    table credits."""

    ordinal: Annotated[int, Column(BIGINT, COMPUTED)]
    block_number: Annotated[int, Column(BIGINT, COMPUTED)]
    # None: for all transactions of the block together.
    transaction_index: Annotated[int | None, Column(INTEGER, COMPUTED)]
    type: Annotated[int, Column(SMALLINT, COMPUTED)]
    address: Annotated[bytes, Column(ADDRESS, COMPUTED)]
    amount_wei: Annotated[int, Column(UINT256, COMPUTED)]


class Settlement(NamedTuple):
    """Who got the fees of a block's transactions: columns of the block's row, and credits."""

    producer_fees: int
    burnt_fees: int | None
    blob_fees: int | None
    credits: tuple[Credit, ...] = ()


class Encoding(NamedTuple):
    """How consensus encodes a type of transaction and its receipt: fields of JSON, in order."""

    transaction: tuple[str, ...]
    # Fields after Ethereum's, of a receipt that has all of them.
    receipt_tail: tuple[str, ...] = ()
    # Its `input` is all of the transaction but the type, and the fields above are nobody's and
    # nothing: it runs no code.
    is_input: bool = False


def number(value: Any) -> str:
    """Return a QUANTITY in decimal."""
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
    """Return a number that the chain's node writes in decimal, such as l1FeeScalar."""
    if not isinstance(value, str) or not _is_decimal(value):
        raise BadHex(f"not a decimal number: {excerpt(value)}")
    return value


def no_amounts(block: Any, sent: Values, received: Values) -> list[Any]:
    return [None] * len(sent["hash"])


def produced(transactions: Sequence[Any], base_fee: int | None) -> int:
    """Return the wei that transactions paid for gas beyond the base fee."""
    floor = base_fee or 0
    return sum([(t.gas_price - floor) * t.gas_used for t in transactions if t.gas_price > floor])


def settle_by_ethereum(block: Any) -> Settlement:
    """Give the producer the fees beyond the base fee, and burn base fees (EIP-1559) and fees for
    blobs (EIP-4844). The block's own gas_used is not what was paid for (EIP-7778, EIP-8037)."""
    base_fee = block.base_fee_per_gas
    gas_used = sum([transaction.gas_used for transaction in block.transactions])
    blob_fees = [
        BLOB_GAS * len(t.blob_versioned_hashes) * int.from_bytes(t.blob_gas_price)
        for t in block.transactions
        if t.blob_gas_price is not None
    ]
    return Settlement(
        produced(block.transactions, base_fee),
        None if base_fee is None else base_fee * gas_used,
        sum(blob_fees) if blob_fees else None,
    )


class ProtocolMoves(Protocol):
    """Tells which calls in a transaction's trace are of the chain's protocol, which no code made,
    and which of these are transfers. It makes all inner calls of a transaction where `makes_all`;
    else its calls have types that no code's have."""

    makes_all: bool

    def has(self, call: Any, depth: int) -> bool: ...

    def is_transfer(self, from_address: bytes, to_address: bytes, value: int) -> bool: ...


class Form(NamedTuple):
    """What the blocks of a chain have beyond Ethereum's.

    A block has this form by its chain's id, one of `chain_ids`. On chains that are nobody's it has
    it by `header_signs` and `is_of_header` (fields that the block's hash covers), or as its root is
    that of `encodings`; else by `signs` and `is_of` (fields that no hash covers), which is said.
    `shared_fields` have one value in all receipts of a block, and are stored with the block.
    """

    name: str
    signs: frozenset[str] = frozenset()
    chain_ids: frozenset[int] = frozenset()
    header_signs: tuple[str, ...] = ()
    is_of_header: Callable[[Any], bool] | None = None  # of a block's struct
    is_of: Callable[[Any], bool] | None = None
    # Whether a block with one of `chain_ids` has the form: test nodes may have any chain id.
    shows: Callable[[Any, Values, Values], bool] | None = None
    type_names: Mapping[int, str] = {}
    transaction_fields: Mapping[str, Reader] = {}
    receipt_fields: Mapping[str, Reader] = {}
    shared_fields: Mapping[str, Reader] = {}
    block_fields: Mapping[str, Reader] = {}
    # The parts of each fee besides gas and blobs; None: the fee has no such part. l1_fees returns
    # QUANTITYs.
    l1_fees: Callable[[Any, Values, Values], Sequence[Any]] = no_amounts
    operator_fees: Callable[[Any, Values, Values], Sequence[int | None]] = no_amounts
    # The wei that each transaction mints for its sender, as QUANTITY.
    mints: Callable[[Any, Values, Values], Sequence[Any]] = no_amounts
    # Which transactions paid for gas in a token.
    pays_in_tokens: Callable[[Values], Sequence[bool]] | None = None
    # Which transactions pay nothing, whatever their price.
    is_free: Callable[[Values], Sequence[bool]] | None = None
    settle: Callable[[Any], Settlement] = settle_by_ethereum
    # Fields of the block that are computed from other fields.
    own_fields: Callable[[Any, Values], dict[str, Any]] = lambda block, sent: {}
    encodings: Mapping[int, Encoding] = {}  # of types that Ethereum does not have, where known
    # A sentence about coin that moves without a trace there, for people whose history does not add
    # up.
    unseen: str = ""
    withdrawal_unit: str | None = None  # the unit of withdrawals; None: the coin
    # The contract and the signature of the event that announces messages to L1, whose parameters
    # have the names of a message's fields; None: there are no messages.
    message_event: tuple[str, str] | None = None
    # Headers have no blobGasUsed, even where Cancun's other rules hold.
    has_cancun_without_blobs: bool = False
    # Blocks list no withdrawals; withdrawalsRoot may be that of a contract's storage.
    withdraws_to_l1: bool = False
    # Roots cover all fields of its transactions and receipts, as on Ethereum.
    is_covered_by_roots: bool = False
    # No block can be proven: headers, or a type that each block has, are encoded in no known way.
    has_unproven_blocks: bool = False
    # Its fields of transactions are of all types; else of types beyond Ethereum's, and of those
    # that `more_types` returns for the types of a block's transactions.
    has_fields_of_all_types: bool = False
    more_types: Callable[[Sequence[Any]], Collection[str | None]] = lambda types: ()
    # Whether a block, given as a struct, ends with a transaction that no root covers.
    has_uncovered_end: Callable[[Any], bool] | None = None
    # By the address of a precompile that moves coin, the transfer that a call of it makes: sender,
    # recipient and amount; None for other calls. The second argument is whether it is the outermost
    # call. Raises BadHex.
    precompiles: Mapping[str, Callable[[Any, bool], tuple[bytes, bytes, int] | None]] = {}
    # Makes what tells the transfers of the chain's protocol among a transaction's calls.
    protocol_moves: Callable[[Any], ProtocolMoves] | None = None
    order: int = 0  # among the forms that may match a block, the least first

    def chain_fields_of_transactions(
        self,
        types: Sequence[bytes],
        sent: Values,
        received: Values,
        fees_in_tokens: Sequence[int | None],
    ) -> list[str | None]:
        """Return the `chain_fields` of each transaction as JSON; None where it has none."""
        columns = [
            (name, read, values[name])
            for fields, values in ((self.transaction_fields, sent), (self.receipt_fields, received))
            for name, read in fields.items()
            if values[name].count(None) < len(types)
        ]
        texts: list[str | None] = []
        for index, type_ in enumerate(types):
            fields = _read_fields({name: (read, values[index]) for name, read, values in columns})
            type_name = self.type_names.get(int.from_bytes(type_))
            if type_name is None and type_ > NEWEST_TYPE:
                type_name = "unknown"
            if type_name is not None:
                fields["typeName"] = type_name
            if fees_in_tokens[index] is not None:
                fields["feeInFeeCurrency"] = str(fees_in_tokens[index])
            texts.append(_text(fields))
        return texts

    def chain_fields_of_block(self, block: Any, sent: Values, received: Values) -> str | None:
        fields = _read_fields(
            {name: (read, getattr(block, name, None)) for name, read in self.block_fields.items()}
        )
        for name, read in self.shared_fields.items():
            present = [value for value in received.get(name, ()) if value is not None]
            fields |= _read_fields({name: (read, present[0] if present else None)})
        return _text(fields | self.own_fields(block, sent))


# The form of transactions whose type no form names, in blocks of Ethereum's form. Receipts of those
# with frames (EIP-8141) name who paid.
UNKNOWN_TYPES = Form("Ethereum", receipt_fields={"payer": address, "payerFee": decimal})


def other_payers(
    types: Sequence[bytes], senders: Sequence[bytes], payers: Sequence[Any]
) -> list[Any]:
    """Return who paid each fee where that is not the sender, of transactions of unknown types."""
    return [
        payer if type_ > NEWEST_TYPE and _is_another(payer, sender) else None
        for type_, sender, payer in zip(types, senders, payers, strict=True)
    ]


def _is_another(payer: Any, sender: bytes) -> bool:
    with suppress(BadHex, TypeError):  # no address: another chain gives the field another meaning
        return data(payer, 20) != sender
    return False


def mint_credits(block: Any) -> list[tuple[int | None, int, bytes, int]]:
    """Return what transactions minted for their senders, as the arguments of numbered()."""
    return [
        (t.transaction_index, MINT, t.from_address, int.from_bytes(t.mint))
        for t in block.transactions
        if t.mint
    ]


def numbered(
    block: Any, credits: Sequence[tuple[int | None, int, bytes, int]], offset: int = 0
) -> tuple[Credit, ...]:
    """Return the credits whose amount is not 0, with ordinals from `offset` in their block on.

    Each of `credits` is a transaction index, a type, an address and an amount in wei.
    """
    first = (block.number << PLACE_BITS) + offset
    present = [credit for credit in credits if credit[-1]]
    return tuple(
        [
            Credit(ordinal, block.number, index, type_, holder, amount)
            for ordinal, (index, type_, holder, amount) in enumerate(present, first)
        ]
    )


def _read_fields(fields: Mapping[str, tuple[Reader, Any]]) -> dict[str, Any]:
    values = {}
    for name, (read, value) in fields.items():
        if value is not None:
            # No amount depends on these fields, so one to which another chain gives another meaning
            # is left out.
            with suppress(BadHex, TypeError):
                values[name] = read(value)
    return values


def _text(fields: Mapping[str, Any]) -> str | None:
    return json.dumps(fields, separators=(",", ":")) if fields else None
