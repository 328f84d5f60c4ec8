"""Blocks as the indexer had them when it wrote their rows, made of stored blocks, and of the rows
of what no stored block has: headers, senders, withdrawals, rewards and traces. No node is asked.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from scan.audit.block_comparison import Comparison, Expected
from scan.contracts import account_state
from scan.database.connection import Database
from scan.database.transaction import Transaction
from scan.ethereum import blocks, column_types, rlp_and_tries, sparse_tables
from scan.ethereum.block_decoder import keeps_destroyed
from scan.ethereum.block_encoding import TRANSACTION_FIELDS
from scan.ethereum.blocks import StoredBody
from scan.ethereum.forms.form import BURN, Credit
from scan.ethereum.forms.matching import FORM_OF_CHAIN, FORMS
from scan.ethereum.stored_blocks import DamagedBody, StoredBlock, StoredTransaction
from scan.ethereum.transaction_checks import with_signers
from scan.hex import data, quantity
from scan.indexer.block_rows import FetchedBlock

_IN_HEX = (column_types.ADDRESS, column_types.BYTES, column_types.HASH, column_types.UNSIGNED)
_RECORDS: Mapping[str, type[Any]] = {
    "transactions": blocks.DecodedTransaction,
    "internal_transfers": sparse_tables.InternalTransfer,
    "withdrawals": blocks.Withdrawal,
    "credits": Credit,
    "uncles": blocks.Uncle,
}
_COLUMNS = {name: column_types.annotated_columns(record) for name, record in _RECORDS.items()}
_SET_CODE = hex(blocks.SET_CODE[0])
# The numbers that a transaction's hash covers.
_NUMBERS = {
    name: column
    for name, column in blocks.TRANSACTION_COLUMNS.items()
    if column.type is column_types.UNSIGNED
    and column.kind is column_types.PROVEN
    and not column.of_receipt
    and column.json_name != "mint"
}


class StoredSource:
    """Reads the blocks of one database from one of its connections, or in one transaction."""

    def __init__(self, database: Database | Transaction, *, proves: bool = False) -> None:
        """With `proves`, transactions are as the stored block has them, in all that hash or
        receipt cover; else as their rows are."""
        self._database = database
        identity = account_state.read_identity(database)
        self._chain_id = identity.rules_id if identity else 0
        self._proves = proves

    def blocks(self, first: int, last: int) -> list[FetchedBlock]:
        """Return these blocks as they were before their rows were made. Raises DamagedBody, which
        names the block, for one that is not what was stored, or is missing."""
        records: dict[str, dict[int, list[Any]]] = {
            name: self._records(name, first, last) for name in _RECORDS
        }
        rows = self._database.rows("audit/bodies_get", block_from=first, block_to=last)
        bodies = {number: StoredBody(bytes(digest), bytes(body)) for number, digest, body in rows}
        block_rows = sorted(self._rows("blocks", first, last), key=lambda row: row["number"])
        # What incomplete traces say was created is in no other row.
        untraced = {row["number"] for row in block_rows if row["traced"] is False}
        emitters = defaultdict(list)
        for row in self._rows("log_emitters", first, last) if untraced else ():
            if row["block_number"] in untraced:
                emitters[row["block_number"]].append(bytes.fromhex(row["address"][2:]))
        return [
            self._block(
                row,
                {name: of.get(row["number"], []) for name, of in records.items()},
                bodies.get(row["number"]),
                emitters[row["number"]],
            )
            for row in block_rows
        ]

    def _rows(self, table: str, first: int, last: int) -> list[dict[str, Any]]:
        statement = f"audit/{table}_get_rows"
        return [row for (row,) in self._database.rows(statement, block_from=first, block_to=last)]

    def _records(self, table: str, first: int, last: int) -> dict[int, list[Any]]:
        """Return the records of a table's rows by their blocks, in the rows' order."""
        record, columns = _RECORDS[table], _COLUMNS[table]
        by_block = defaultdict(list)
        for row in self._rows(table, first, last):
            values = {name: _value(column, row, name) for name, column in columns.items()}
            by_block[row["block_number"]].append(record(**values))
        for of_block in by_block.values():
            of_block.sort(key=lambda values: values[0])  # by ordinal, or by the place in the block
        return by_block

    def _block(
        self,
        row: Mapping[str, Any],
        records: Mapping[str, list[Any]],
        body: StoredBody | None,
        emitters: Sequence[bytes],
    ) -> FetchedBlock:
        number, transactions = row["number"], records["transactions"]
        if body is None and transactions:
            raise DamagedBody(number, "they are missing")
        stored = None if body is None else StoredBlock(number, body)
        if stored is not None and len(stored) != len(transactions):
            raise DamagedBody(number, "they are not as many as the block has")
        logs: list[blocks.EventLog] = []
        lists: list[blocks.AuthorizationList] = []
        has_statuses, gas = True, 0
        for index, transaction in enumerate(transactions if stored else ()):
            assert stored is not None
            sent = stored.transaction(index)
            logs += [
                blocks.EventLog(index, log.log_index, *log[:3]) for log in sent.receipt.logs or ()
            ]
            has_statuses = has_statuses and sent.receipt.status is not None
            if sent.fields.get("type") == _SET_CODE:
                chain_id = column_types.UNSIGNED.read(sent.fields["chainId"])
                entries = with_signers(sent.fields.get("authorizationList") or ())
                lists.append((index, entries, chain_id))
            if self._proves and (encoded := stored.encoded(index)) is not None:
                transaction = _proven(transaction, sent, gas)
                if row["unproven"] is None:  # test nodes send without signatures, by other hashes
                    transaction = transaction._replace(hash=rlp_and_tries.keccak256(encoded))
                transactions[index] = transaction
            gas = sent.receipt.cumulative_gas_used
        transfers = records["internal_transfers"]
        created = list(emitters)
        if row["traced"]:
            created = [t.to_address for t in transfers if t.type in sparse_tables.CREATIONS]
            created += [t.contract_address for t in transactions if t.contract_address]
        columns = {name: _value(column, row, name) for name, column in blocks.BLOCK_COLUMNS.items()}
        # The form of the chain's id, or else of the types of transactions that Ethereum lacks.
        types = {int.from_bytes(t.type) for t in transactions} - TRANSACTION_FIELDS.keys()
        likely = (form for form in FORMS if types and types <= form.encodings.keys())
        is_known = self._chain_id in FORM_OF_CHAIN
        form = FORM_OF_CHAIN[self._chain_id] if is_known else next(likely, None)
        block = blocks.DecodedBlock(
            **columns,
            transactions=transactions,
            logs=logs,
            withdrawals=None if row["withdrawal_count"] is None else records["withdrawals"],
            credits=tuple(credit for credit in records["credits"] if credit.type != BURN),
            uncles=tuple(records["uncles"]),
            authorization_lists=tuple(lists),
            message_event=form and form.message_event,
            keeps_destroyed=keeps_destroyed(form, columns["blob_gas_used"], columns["timestamp_s"]),
            has_statuses=has_statuses,
        )
        return FetchedBlock(
            block, created if row["traced"] is not None else [], transfers, row["traced"]
        )


def _proven(
    transaction: blocks.DecodedTransaction, sent: StoredTransaction, gas_before: int
) -> blocks.DecodedTransaction:
    """Return a transaction with all that the block's roots cover."""
    fields, receipt = sent.fields, sent.receipt
    numbers: dict[str, Any] = {
        name: None
        if fields.get(column.json_name) is None
        else column_types.UNSIGNED.read(fields[column.json_name])
        for name, column in _NUMBERS.items()
    }
    hashes = fields.get("blobVersionedHashes")
    return transaction._replace(
        **numbers,
        to_address=None if fields["to"] is None else data(fields["to"]),
        value=quantity(fields["value"]),
        method=sent.input[:4] or None,
        blob_versioned_hashes=None if hashes is None else tuple(map(data, hashes)),
        cumulative_gas_used=column_types.as_unsigned(receipt.cumulative_gas_used),
        gas_used=receipt.cumulative_gas_used - gas_before,
        status=transaction.status if receipt.status is None else receipt.status == 1,
    )


def _value(column: column_types.Column, row: Mapping[str, Any], name: str) -> Any:
    """Return a column's value as records have it, from a row as JSON of PostgreSQL."""
    value = row[name]
    if value is None:
        return None
    if column.type in _IN_HEX:
        return bytes.fromhex(value[2:])
    if column.type is column_types.HASHES:
        return tuple([bytes.fromhex(hash_[2:]) for hash_ in value])
    return value


class StoredComparison(Comparison):
    """Compares blocks with what is stored of them, and asks no node."""

    owner = "the stored block"

    def __init__(self, database: Database | Transaction) -> None:
        super().__init__(database)
        self._source = StoredSource(database, proves=True)
        self.damaged = 0  # blocks
        self.first_stored, _ = database.row("audit/bodies_get_ends") or (None, None)

    def _expected_blocks(self, first: int, last: int) -> Expected:
        if self.first_stored is None or last < self.first_stored:
            return Expected(())
        first = max(first, self.first_stored)
        with suppress(DamagedBody):
            return Expected(self._source.blocks(first, last))
        blocks, faults = [], []
        for number in range(first, last + 1):
            try:
                blocks += self._source.blocks(number, number)
            except DamagedBody as error:
                faults.append(error.message)
                self.damaged += 1
        return Expected(blocks, faults=faults)
