"""Accounts and slots that eth_getProof proves against a block's stateRoot (EIP-1186), and block
access lists (EIP-7928), whose hash is in the header: what accounts had after transactions.

A proof is the list of nodes on the path from the root of a trie to a key, or to the place where the
key would be (Yellow Paper, appendix D). Each node is hashed, and has to be the one that the node
before it names: what the walk ends at is then what the root commits to, whoever gave the nodes. A
walk takes each node once, so that nothing in a proof makes it longer than the proof.

Access lists are read from their RLP, or from the JSON of execution-apis, which is encoded first, or
that of clients from before their names: the hash tells whether it was understood.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from scan.cached_values import SizedCache
from scan.errors import UpstreamFailed
from scan.ethereum import request_node
from scan.ethereum.block_hashing import encoded_header, encoded_with_unknown_fields
from scan.ethereum.blocks import BlockJson, MalformedBlock, read_json
from scan.ethereum.client import Call, RpcError
from scan.ethereum.request_node import NodeSession
from scan.ethereum.rlp_and_tries import (
    EMPTY_ROOT,
    EMPTY_STRING,
    LISTS,
    item_content,
    keccak256,
    list_item,
    quantity_item,
    split_list,
    string_item,
)
from scan.ethereum.served_chain import BlockId
from scan.hex import data, to_hex

EMPTY_CODE_HASH = keccak256(b"")
# A path has at most a node for each of the 64 nibbles of a hashed key, and the leaf's; a branch of
# sixteen hashes has 532 bytes.
MOST_NODES = 65
MOST_NODE_BYTES = 1024
# Of one answer: the longest proofs of an account and of a slot, in hex, with the block's header.
MOST_ANSWER_BYTES = 512 * 1024
MOST_SLOT_BYTES = 16 * 1024  # of each of several slots, twice what one of a large contract has
MOST_HEADER_ITEMS = 64
_STATE_ROOT = 3  # its place in the header of every chain's form
_BRANCH_ITEMS = 17
_HASH_PREFIX = b"\xa0"  # of a child that is named by its hash


class ImproperProof(ValueError):
    """What a node gave proves nothing of the block; the message says why."""


class ProvenSlot(NamedTuple):
    """A slot of an account's storage, and the word in it: 0 where nothing is stored."""

    slot: int
    value: int
    proof: Sequence[bytes]


class ProvenAccount(NamedTuple):
    """An account after a block; balance in wei. One that does not `exist` has the values that an
    empty one would have, which are proven as well."""

    block: BlockId
    header: bytes  # RLP, whose hash is the block's
    state_root: bytes
    exists: bool
    balance: int
    nonce: int
    code_hash: bytes
    storage_root: bytes
    proof: Sequence[bytes] = ()
    slots: Sequence[ProvenSlot] = ()

    @property
    def slot(self) -> ProvenSlot | None:
        """The first of its slots, if any was given."""
        return next(iter(self.slots), None)


def header_call(block: BlockId) -> Call:
    return Call("eth_getBlockByHash", (to_hex(block.hash), False))


def account_call(address: bytes, block: BlockId, slots: Sequence[int] = ()) -> Call:
    words = [to_hex(_word(slot)) for slot in slots]  # all nodes take 32 bytes, few take less
    return Call("eth_getProof", (to_hex(address), words, block))


def proven_header(block: BlockId, answer: Any) -> bytes:
    """Return the header in a result of eth_getBlockByHash as RLP, whose hash is the block's. Raises
    ImproperProof where no encoding of its fields has this hash."""
    with suppress(MalformedBlock, ValueError, TypeError):
        header = read_json({**answer, "transactions": []}, BlockJson, block.number)
        if data(header.hash) == block.hash:
            encoded = encoded_header(header) or encoded_with_unknown_fields(header)
            if encoded is not None:
                return encoded
    raise ImproperProof(f"its header of block {block.number} does not have the block's hash")


def read_account(
    address: bytes, block: BlockId, header: bytes, answer: Any, slots: Sequence[int] = ()
) -> ProvenAccount:
    """Return what a result of eth_getProof proves, beside a header that proven_header() returned.

    The values that the result names beside its proofs are not read: the proofs have them.
    Raises ImproperProof.
    """
    try:
        root = item_content(split_list(header, MOST_HEADER_ITEMS)[_STATE_ROOT])
        proof = _nodes(answer["accountProof"])
        value = proven_value(root, keccak256(address), proof)
        nonce, balance, storage_root, code_hash = b"", b"", EMPTY_ROOT, EMPTY_CODE_HASH
        if value:
            nonce, balance, storage_root, code_hash = map(item_content, split_list(value, 4))
        numbers = int.from_bytes(balance), int.from_bytes(nonce)
        hashes = code_hash, storage_root
        account = ProvenAccount(block, header, root, bool(value), *numbers, *hashes, proof)
        proven = []
        for slot, slot_answer in zip(slots, answer["storageProof"] if slots else (), strict=True):
            slot_proof = _nodes(slot_answer["proof"])
            value = proven_value(storage_root, keccak256(_word(slot)), slot_proof)
            proven.append(ProvenSlot(slot, _number(value) if value else 0, slot_proof))
        return account._replace(slots=proven)
    except ImproperProof:
        raise
    except (ValueError, TypeError, LookupError) as error:
        raise ImproperProof(f"its proof is malformed ({type(error).__name__})") from None


def _nodes(texts: Any) -> list[bytes]:
    """Return a proof's nodes, whose number and size are bounded before they are decoded."""
    if not isinstance(texts, list) or len(texts) > MOST_NODES:
        raise ImproperProof(f"its proof has more than {MOST_NODES} nodes")
    if any(len(text) > 2 + 2 * MOST_NODE_BYTES for text in texts):
        raise ImproperProof(f"its proof has a node of more than {MOST_NODE_BYTES} bytes")
    return [data(text) for text in texts]


def proven_value(root: bytes, key: bytes, nodes: Sequence[bytes]) -> bytes:
    """Return the value of a key of 32 bytes in the trie with this root; b"" where the nodes prove
    that it has none.

    Raises ImproperProof where nodes are missing, are of another trie or path, or are too many.
    """
    if root == EMPTY_ROOT and [*nodes] in ([], [EMPTY_STRING]):
        return b""
    ahead = iter(nodes)
    path: str | None = key.hex()
    reference = _HASH_PREFIX + root
    while path is not None:
        node: bytes | None = reference  # which a parent contains where it is shorter than a hash
        if reference[0] < LISTS:
            node = next(ahead, None)
        if node is None:
            raise ImproperProof("its proof ends before the path does")
        if node is not reference and _HASH_PREFIX + keccak256(node) != reference:
            raise ImproperProof("its proof does not belong to the block's state")
        reference, path = _child(split_list(node, _BRANCH_ITEMS), path)
    if next(ahead, None) is not None:
        raise ImproperProof("its proof has nodes beyond the end of the path")
    return reference


def _child(items: Sequence[bytes], path: str) -> tuple[bytes, str | None]:
    """Return the child that a node has on a path of nibbles, and the path below it; None as path
    where the walk ends, with the value, b"" where the key has none."""
    if len(items) == _BRANCH_ITEMS:
        child = items[int(path[0], 16)]
        return (b"", None) if child == EMPTY_STRING else (child, path[1:])
    if len(items) != 2:
        raise ImproperProof("its proof has a node that is of no trie")
    compact, child = items
    nibbles = item_content(compact).hex()
    flag = int(nibbles[0])
    shared = nibbles[2 - flag % 2 :]  # an even number of nibbles begins with the next byte
    if flag >= 2:
        return (item_content(child) if path == shared else b""), None
    return (child, path[len(shared) :]) if path.startswith(shared) else (b"", None)


def _word(slot: int) -> bytes:
    return slot.to_bytes(32)


MOST_ITEMS = 1_000_000  # of a list; what is read of the node is bounded before
MOST_ACCOUNT_ITEMS = 8  # six, and what later forks append (EIP-8268)
# Names of fields in execution-apis, then in alloy-eip7928 before 0.4.11.
_NAMES = {
    "key": ("key", "slot"),
    "index": ("index", "blockAccessIndex", "txIndex"),
    "value": ("value", "postBalance", "newNonce", "newValue"),
    "code": ("code", "newCode"),
}
# Of an account, by address: indexes and balances in wei. Index 0 is before the first transaction, 1
# after it, and so on.
BalanceChanges = Mapping[bytes, Sequence[tuple[int, int]]]


def balance_changes(encoded: bytes, hash_: bytes) -> BalanceChanges:
    """Return the balances that transactions changed. Raises ValueError where the list has another
    hash, or is none."""
    if keccak256(encoded) != hash_:
        raise ValueError("another hash")
    changes = {}
    for account in split_list(encoded, MOST_ITEMS):
        address, _, _, balances, *_ = split_list(account, MOST_ACCOUNT_ITEMS)
        pairs = (split_list(change, 2) for change in split_list(balances, MOST_ITEMS))
        changes[item_content(address)] = [(_number(index), _number(wei)) for index, wei in pairs]
    return changes


def encode_access_list(accounts: Any) -> bytes:
    """Return the RLP of a result of eth_getBlockAccessList. Raises ValueError, TypeError, KeyError
    and AttributeError where it is malformed."""
    items = ""
    for account in accounts:
        slots = "".join(
            list_item(quantity_item(_field(slot, "key")) + _changes(slot["changes"]))
            for slot in account.get("storageChanges") or ()
        )
        reads = "".join(map(quantity_item, account.get("storageReads") or ()))
        balances, nonces = (account.get(name) or () for name in ("balanceChanges", "nonceChanges"))
        codes = _changes(account.get("codeChanges") or (), "code", string_item)
        lists = list_item(slots) + list_item(reads) + _changes(balances) + _changes(nonces)
        items += list_item(string_item(account["address"]) + lists + codes)
    return bytes.fromhex(list_item(items))


def _changes(changes: Any, name: str = "value", item: Callable[[str], str] = quantity_item) -> str:
    pairs = [
        list_item(quantity_item(_field(change, "index")) + item(_field(change, name)))
        for change in changes
    ]
    return list_item("".join(pairs))


def _field(record: Any, name: str) -> str:
    """Return a field by any of its names; a number as a QUANTITY. Raises KeyError."""
    names = [other for other in _NAMES[name] if other in record]
    value = record[names[0] if names else name]
    return hex(value) if isinstance(value, int) else value


def _number(item: bytes) -> int:
    return int.from_bytes(item_content(item))


CACHE_BYTES = 8 * 1024 * 1024
PROOF_BYTES = 1000  # beside the nodes of the proof
TRY_AGAIN_S = 30.0
NOT_OFFERED = "The node does not offer proofs (eth_getProof)."


class AccountProofs:
    """Proven accounts by address, slots and block hash; the node is asked once for each, and once
    for the header of each block."""

    def __init__(self) -> None:
        self._accounts: SizedCache[ProvenAccount] = SizedCache(CACHE_BYTES)
        self._headers: SizedCache[bytes] = SizedCache(CACHE_BYTES)
        self._not_offered_until = 0.0

    def read(
        self, node: NodeSession, address: bytes, block: BlockId, slots: Sequence[int] = ()
    ) -> ProvenAccount:
        """Return an account after a block, with the given slots of its storage.

        Raises HistoryUnavailable where the node does not keep that state, UpstreamFailed where it
        has no proof of it, and the errors of NodeSession.
        """
        key = (address, (*slots,), block.hash)
        account = self._accounts.get(key)
        if account is None:
            account = self._account(node, address, block, slots)
            nodes = [*account.proof, *(node for slot in account.slots for node in slot.proof)]
            self._accounts.store(key, account, PROOF_BYTES + sum(map(len, nodes)))
        return account

    def _account(
        self, node: NodeSession, address: bytes, block: BlockId, slots: Sequence[int]
    ) -> ProvenAccount:
        if time.monotonic() < self._not_offered_until:
            raise UpstreamFailed(NOT_OFFERED)
        header = self._headers.get(block.hash)
        calls: list[Call] = [] if header else [header_call(block)]
        calls = [account_call(address, block, slots), *calls]
        most_bytes = MOST_ANSWER_BYTES + MOST_SLOT_BYTES * len(slots)
        proof, *headers = request_node.read(node, block, calls, most_bytes)
        if isinstance(proof, RpcError):
            if not proof.is_missing_method:
                raise UpstreamFailed("The node rejected the call for a proof of this account.")
            self._not_offered_until = time.monotonic() + TRY_AGAIN_S
            raise UpstreamFailed(NOT_OFFERED)
        try:
            header = header or proven_header(block, *headers)
            account = read_account(address, block, header, proof, slots)
        except ImproperProof as error:
            raise UpstreamFailed(f"The node does not prove this account: {error}.") from None
        self._headers.store(block.hash, header, PROOF_BYTES + len(header))
        return account
