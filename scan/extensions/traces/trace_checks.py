"""What contradicts traces, which no hash covers. An invented call inside a transaction cannot be
told from a real one by its form; but the outermost call is the transaction's own, whose fields are
proven, nobody spends more than what it has, and where moving coin is logged (EIP-7708) traces and
logs agree.

The proofs are read from the node: balances, before a block, of accounts that spend much inside its
transactions, and access lists (EIP-7928) of blocks whose transfers no log proves. All else is pure.
"""

import logging
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scan.ethereum import events, served_chain, state_proofs
from scan.ethereum.blocks import COIN_EMITTER, DecodedBlock, DecodedTransaction, MalformedBlock
from scan.ethereum.client import MAX_ANSWER_BYTES, Call, Node, NodeError, RpcError
from scan.ethereum.sparse_tables import CREATIONS, InternalTransfer, TransferType
from scan.hex import data, quantity, to_hex
from scan.indexer.hooks import TracedBlock

LAST_ETHEREUM_TYPE = b"\4"  # transactions of a chain's own types have traces of its own, too
# The spenders of a block whose balances are worth a call of the node: most blocks have none.
LEAST_SPENT_WEI = 100 * 10**18
MOST_SPENDERS = 8
MOST_DOUBTFUL = 50  # senders of doubtful transfers whose balances are read

# A transaction's index, from, to (None: an account that is not known), wei.
Move = tuple[int, bytes, bytes | None, int]


class ContradictingTraces(MalformedBlock):
    """Traces that are false. They are refused, and the block is indexed without traces where no
    node has others."""


def require_own_call(transaction: DecodedTransaction, frame: Any, *, has_status: bool) -> None:
    """Raise ContradictingTraces unless the outermost call, in callTracer's format, is that of a
    transaction that succeeded. Raises BadHex, KeyError and TypeError where it is malformed."""
    if transaction.type <= LAST_ETHEREUM_TYPE:
        differing = next(_differing(transaction, frame, has_status), None)
        if differing:
            message = f"the trace of transaction {to_hex(transaction.hash)} has another {differing}"
            raise ContradictingTraces(message)


def _differing(transaction: DecodedTransaction, frame: Any, has_status: bool) -> Iterator[str]:
    """Yield the names of the fields that differ. gasUsed is compared where `gas` is the limit of
    the transaction: other nodes leave out what a transaction costs before it runs."""
    is_creation = transaction.to_address is None
    if frame["type"] != ("CREATE" if is_creation else "CALL"):
        yield "type"
    if data(frame["from"], 20) != transaction.from_address:
        yield "from"
    recipient = transaction.contract_address if is_creation else transaction.to_address
    if not frame.get("error") and data(frame["to"], 20) != recipient:
        yield "to"
    if quantity(frame.get("value") or "0x0") != transaction.value:
        yield "value"
    if "input" in frame and (data(frame["input"][:10]) or None) != transaction.method:
        yield "input"
    if has_status and frame.get("error"):  # receipts before Byzantium have none
        yield "status"
    limit = int.from_bytes(transaction.gas_limit or b"")
    has_gas = frame.get("gas") is not None and quantity(frame["gas"]) == limit
    if has_gas and quantity(frame["gasUsed"]) != transaction.gas_used:
        yield "gasUsed"


def large_spenders(block: DecodedBlock, transfers: Sequence[InternalTransfer]) -> list[bytes]:
    """Return the accounts whose balances before the block are to be proven: at most MOST_SPENDERS
    that spend most inside transactions, of those that spend LEAST_SPENT_WEI there. Where logs prove
    transfers (EIP-7708), and before Byzantium, there are none."""
    if block.coin_logs or not block.has_statuses or not block.number:
        return []
    spent: Counter[bytes] = Counter()
    for transfer in transfers:
        spent[transfer.from_address] += transfer.value
    largest = spent.most_common(MOST_SPENDERS)
    return [address for address, wei in largest if wei >= LEAST_SPENT_WEI]


def require_spendable(
    block: DecodedBlock, transfers: Sequence[InternalTransfer], balances: Mapping[bytes, int]
) -> None:
    """Raise ContradictingTraces where an account spends more than it has, in the order of the
    block. `balances` in wei before the block are those of the accounts that are looked at.

    What accounts get without a transfer is taken as theirs from the beginning, and fees as not
    paid: an honest trace is never refused.
    """
    held = Counter(balances)
    held[block.miner] += block.producer_fees
    for credit in block.credits:
        held[credit.address] += max(credit.amount_wei, 0)
    for _, sender, recipient, wei in _moves(block, transfers):
        if sender in balances and held[sender] < wei:
            raise ContradictingTraces(
                f"block {block.number}: by its traces {to_hex(sender)} spends {wei} wei of"
                f" {held[sender]} that are proven to be its own"
            )
        held[sender] -= wei
        if recipient is not None:
            held[recipient] += wei


def require_recorded(
    block: DecodedBlock, transfers: Sequence[InternalTransfer], changes: state_proofs.BalanceChanges
) -> None:
    """Raise ContradictingTraces where transfers change a balance otherwise than the block's access
    list has it, which names each balance after the transactions that changed it.

    The producer and others that get fees are left out. Of the first change of an account only its
    sign is known: before it the account had at least nothing.
    """
    if not changes:
        return
    of_fees = {block.miner, *(credit.address for credit in block.credits)}
    parties = {party for t in transfers for party in (t.from_address, t.to_address)} - of_fees
    net = _net_changes(block, transfers)
    for address in sorted(parties):
        if (index := _differing_index(block, dict(changes.get(address, ())), net[address])) >= 0:
            raise ContradictingTraces(
                f"block {block.number}: its traces and its access list differ in what transaction"
                f" {index} moved of {to_hex(address)}"
            )


def _differing_index(block: DecodedBlock, after: Mapping[int, int], moved: Counter[int]) -> int:
    """Return the index of the first transaction that moved something else than balances `after`
    transactions say; -1 if there is none."""
    before: int | None = None
    for index in sorted({*after, *moved}):
        if 1 <= index <= len(block.transactions):
            expected = after.get(index, before or 0) - moved[index]
            is_right = expected >= 0 if before is None else expected == before
            if not is_right or (index not in after and moved[index]):
                return index - 1
        before = after.get(index, before)
    return -1


def doubtful_destructions(
    block: DecodedBlock, transfers: Sequence[InternalTransfer]
) -> list[InternalTransfer]:
    """Return the transfers by SELFDESTRUCT that repeat the transfer before them in a transaction.

    A contract paid, and with its end as much again; or it ended in its own favour, which moves
    nothing since Cancun (EIP-6780): then reth and anvil report the transfer before once more, or
    the one before payments to oneself. Of contracts that the transaction created they report what
    is true.
    """
    doubtful: list[InternalTransfer] = []
    created: set[tuple[int, bytes | None]] = set()
    # Parties and value of the last transfer, and of the last between two accounts.
    last: dict[tuple[int, bool], tuple[object, ...]] = {}
    for transaction in block.transactions:
        index, contract = transaction.transaction_index, transaction.contract_address
        created.add((index, contract))
        if transaction.status and transaction.value:
            sender, recipient = transaction.from_address, transaction.to_address or contract
            last[index, sender == recipient] = sender, recipient, transaction.value
    for transfer in transfers:
        index, _, kind, sender, recipient, value = transfer
        if kind in CREATIONS:
            created.add((index, recipient))
        is_of_older = kind is TransferType.SELFDESTRUCT and (index, sender) not in created
        if is_of_older and transfer[3:] in (last.get((index, own)) for own in (False, True)):
            doubtful.append(transfer)
        if value:
            last[index, sender == recipient] = transfer[3:]
    return doubtful


def false_destructions(
    block: DecodedBlock,
    transfers: Sequence[InternalTransfer],
    doubtful: Sequence[InternalTransfer],
    gained: Mapping[bytes, int],
) -> set[InternalTransfer]:
    """Return which of the doubtful transfers are left out, as they moved nothing.

    Where moving coin is logged, they are those without a log; else all of a sender that has more
    than they would leave it, by what it `gained` in the block, in wei, or of which that is not
    known. So a contract that also ended in another's favour, in the same block, lacks that.
    """
    if block.coin_logs:
        excess = _by_parties(transfers) - _by_parties(logged_transfers(block))
        false = set[InternalTransfer]()
        for transfer in doubtful:
            parties = transfer.transaction_index, *transfer[3:]
            if excess[parties] > 0 or transfer.from_address == transfer.to_address:
                excess[parties] -= 1
                false.add(transfer)
        return false
    net, unspent = _net_changes(block, transfers), Counter(gained)
    unspent[block.miner] -= block.producer_fees
    for credit in block.credits:
        unspent[credit.address] -= credit.amount_wei
    for withdrawal in block.withdrawals or ():
        unspent[withdrawal.address] -= withdrawal.amount_wei if withdrawal.unit is None else 0
    for sender in gained:
        burnt = [t.value for t in doubtful if t.from_address == t.to_address == sender]
        unspent[sender] += sum(burnt) - net[sender].total()
    return {t for t in doubtful if t.from_address not in gained or unspent[t.from_address] > 0}


def _net_changes(
    block: DecodedBlock, transfers: Sequence[InternalTransfer]
) -> dict[bytes, Counter[int]]:
    """Return what each account gained by transactions in wei, by their indexes in access lists."""
    net: defaultdict[bytes, Counter[int]] = defaultdict(Counter)
    for transaction in block.transactions:
        net[transaction.from_address][transaction.transaction_index + 1] -= transaction.fee
    for index, sender, recipient, wei in _moves(block, transfers):
        net[sender][index + 1] -= wei
        if recipient is not None:
            net[recipient][index + 1] += wei
    return net


def _moves(block: DecodedBlock, transfers: Sequence[InternalTransfer]) -> Iterator[Move]:
    inside: defaultdict[int, list[InternalTransfer]] = defaultdict(list)
    for transfer in transfers:
        inside[transfer.transaction_index].append(transfer)
    for transaction in block.transactions:
        index = transaction.transaction_index
        if transaction.moved_value:
            recipient = transaction.to_address or transaction.contract_address
            yield index, transaction.from_address, recipient, transaction.value
        for transfer in inside[index]:
            yield index, transfer.from_address, transfer.to_address, transfer.value


log = logging.getLogger(__name__)

TIMEOUT_S = 5.0
# By the names of clients: execution-apis', reth's, and anvil's.
METHODS = (
    "debug_getRawBlockAccessList",
    "eth_getBlockAccessListRaw",
    "eth_getBlockAccessList",
    "eth_getBlockAccessListByBlockHash",
    "eth_getBlockAccessListByBlockNumber",
)
BY_NUMBER = "eth_getBlockAccessListByBlockNumber"
INVALID_PARAMETERS = -32602  # of a client whose method takes a number alone
NOT_BEFORE_THE_FORK = 4445  # Erigon's, before execution-apis had -32001
_MALFORMED = (ValueError, TypeError, KeyError, AttributeError)


class AccessLists:
    """Reads lists, and remembers which methods the node offers."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._methods: tuple[str, ...] = METHODS
        self._take_numbers = {BY_NUMBER}

    def read(self, block: DecodedBlock, traced: TracedBlock) -> state_proofs.BalanceChanges:
        """Return the balances that the block's transactions changed; none where the node has no
        list with the header's hash, and where logs prove the transfers, as on Ethereum."""
        hash_ = block.block_access_list_hash
        if hash_ is None or block.coin_logs or not traced.transfers:
            return {}
        for method in self._methods:
            try:
                answer = self._ask(method, block)
                if isinstance(answer, RpcError):
                    if answer.is_missing_block or answer.code == NOT_BEFORE_THE_FORK:
                        break  # the node has no such list, whatever the method
                    continue
                is_raw = isinstance(answer, str)
                raw = data(answer) if is_raw else state_proofs.encode_access_list(answer)
                changes = state_proofs.balance_changes(raw, hash_)
            except NodeError as error:
                log.info("the access list of block %d is not known: %s", block.number, error)
                break
            except _MALFORMED as error:
                log.info("%s has no list of block %d: %s", method, block.number, error)
                continue
            self._methods = (method, *(name for name in self._methods if name != method))
            return changes
        return {}

    def _ask(self, method: str, block: DecodedBlock) -> Any:
        """Return the result of a method, or its error; remember if the node does not offer it, or
        takes a block's number alone."""
        by_number = method in self._take_numbers
        parameter = hex(block.number) if by_number else to_hex(block.hash)
        [answer] = self._node.results([Call(method, (parameter,))], TIMEOUT_S, MAX_ANSWER_BYTES)
        if isinstance(answer, RpcError):
            if answer.is_missing_method:
                self._methods = tuple(name for name in self._methods if name != method)
            elif answer.code == INVALID_PARAMETERS and not by_number:
                self._take_numbers.add(method)
                return self._ask(method, block)
        return answer


BALANCES_TIMEOUT_S = 2.0
ASK_AGAIN_S = 60.0


class SpenderBalances:
    """Reads balances by eth_getProof, and remembers whether the node offers it. A block takes at
    most one request more, of nine calls."""

    def __init__(self, node: Node) -> None:
        self._node = node
        self._not_offered_until = 0.0

    def before(self, block: DecodedBlock, traced: TracedBlock) -> Mapping[bytes, int]:
        """Return the balances in wei that the node proves, by address. Accounts of which it proves
        none are missing, since it may lack the state: their transfers stay what the node says."""
        is_offered = time.monotonic() >= self._not_offered_until
        spenders = large_spenders(block, traced.transfers) if is_offered else []
        if not spenders:
            return {}
        parent = served_chain.BlockId(block.number - 1, block.parent_hash)
        calls = [
            state_proofs.header_call(parent),
            *(state_proofs.account_call(address, parent) for address in spenders),
        ]
        balances = {}
        try:
            header, *proofs = self._node.results(
                calls, BALANCES_TIMEOUT_S, state_proofs.MOST_ANSWER_BYTES
            )
            encoded = state_proofs.proven_header(parent, header)
            for address, proof in zip(spenders, proofs, strict=True):
                if isinstance(proof, RpcError):
                    if proof.is_missing_method:
                        self._not_offered_until = time.monotonic() + ASK_AGAIN_S
                else:
                    account = state_proofs.read_account(address, parent, encoded, proof)
                    balances[address] = account.balance
        except (NodeError, state_proofs.ImproperProof) as error:
            spender = to_hex(spenders[0])
            log.info("what %s has before block %d is not proven: %s", spender, block.number, error)
        return balances


def logged_transfers(block: DecodedBlock) -> list[InternalTransfer]:
    """Return the transfers of coin inside the block's transactions, by their logs.

    Raises MalformedBlock where a transaction's first log is not that of its own value.
    """
    of_transactions: defaultdict[int, list[InternalTransfer]] = defaultdict(list)
    for log in block.logs if block.coin_logs else ():
        event = events.transfer_event(log) if log.address == COIN_EMITTER else None
        if event is not None and event.shape is events.TransferShape.AMOUNT:
            moved = TransferType.TRANSFER, event.from_address, event.to_address, event.words[0][1]
            transfer = InternalTransfer(log.transaction_index, 0, *moved)
            of_transactions[log.transaction_index].append(transfer)
    internal = []
    for transaction in block.transactions:
        index, sender = transaction.transaction_index, transaction.from_address
        recipient = transaction.to_address or transaction.contract_address
        transfers = of_transactions[index]
        if transaction.moved_value:
            transaction_transfer = transfers[0][3:] if transfers else None
            if transaction_transfer != (sender, recipient, transaction.value):
                raise MalformedBlock(
                    f"block {block.number}: transaction {to_hex(transaction.hash)} has no log of"
                    " its value (EIP-7708)"
                )
            transfers = transfers[1:]
        internal += [t._replace(transfer_index=index) for index, t in enumerate(transfers, 1)]
    return internal


def _by_parties(transfers: Sequence[InternalTransfer]) -> Counter[tuple[Any, ...]]:
    """Return how often each value moved between other accounts, by transaction, parties, wei."""
    return Counter(
        (t.transaction_index, *t[3:])
        for t in transfers
        if t.value and t.from_address != t.to_address
    )


def require_logged(block: DecodedBlock, traced: Sequence[InternalTransfer]) -> None:
    """Raise ContradictingTraces unless the transfers by the block's traces are those by its
    logs."""
    by_traces, by_logs = _by_parties(traced), _by_parties(logged_transfers(block))
    if differing := (by_traces - by_logs) | (by_logs - by_traces):
        index, sender, recipient, value = min(differing)
        raise ContradictingTraces(
            f"block {block.number}: traces and logs of coin (EIP-7708) differ in transaction"
            f" {to_hex(block.transactions[index].hash)}: {value} wei from {to_hex(sender)} to"
            f" {to_hex(recipient)} are in one of them alone"
        )
