"""Whether hashes prove a block that a node gave, and what it is that they do not prove."""

import logging
from collections.abc import Mapping
from typing import Any

from scan.ethereum.block_encoding import BLOBS_INSIDE
from scan.ethereum.block_hashing import OUT_OF_PLACE, has_its_hash, put_in_place
from scan.ethereum.block_validation import Verdict, check_body, check_transactions
from scan.ethereum.blocks import BlockJson, MalformedBlock, read_json
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.ethereum.forms.matching import LIKE_ETHEREUM, chain_id_of
from scan.ethereum.keccak import keccak256
from scan.ethereum.raw_blocks import RawBlock, RawBlocks
from scan.ethereum.transaction_checks import (
    ADDRESSES_AS_SIGNATURES,
    OTHER_SIGNERS,
    UNSIGNED,
    UNSIGNED_SENDERS,
)
from scan.ethereum.unknown_fields import (
    agrees_with_bytes,
    find_order,
    has_hash_with,
    unknown_fields,
)
from scan.hex import BadHex, data, quantity

log = logging.getLogger(__name__)

MOST_NAME_CHARACTERS = 40
OWN_HEADER = "header and hash, as the chain has headers of its own form"
TOO_LARGE = "transactions and receipts, which are too large to be read at once"
UPDATE = "unknown to this version of Scan, update it"
# What blocks of nodes for development contradict, by how web3_clientVersion begins; and whether
# blocks without transactions alone do.
DEVELOPMENT_NODES: Mapping[str, Mapping[str, bool]] = {
    # Where it sends in another account's name, and transactions with blobs.
    "anvil/": {UNSIGNED: False, BLOBS_INSIDE: False},
    "hardhatnetwork/": {
        "transactions and transactionsRoot": True,
        ADDRESSES_AS_SIGNATURES: False,
    },
    # It signs in another account's name with a key that it makes of the address.
    "ganache/": {"receipts and receiptsRoot": False, OTHER_SIGNERS: False},
}
# The chain whose bodies had a form of their own while it was an L1, without withdrawalsRoot.
L1_OF_CELO = 42_220
# The chain whose transactions from L1 had no signature before Bedrock.
OP_MAINNET = 10


class BlockChecker:
    """Checks blocks of one chain, and remembers by which form of headers they were proven. Unless
    it `computes_senders`, they are the node's."""

    def __init__(self, node: Node, *, computes_senders: bool = True) -> None:
        self._node = node
        self._computes_senders = computes_senders
        self._raw = RawBlocks(node)
        self._chain_id: int | None = None
        self._orders: list[tuple[str, ...]] = []  # of unknown fields in headers, the newest first
        self._proven_from: int | None = None  # the first block whose header was proven
        self._has_own_form = False  # whether no earlier header of the node is proven
        # Unknown fields of headers that are not proven, and those that tell of no fork, as headers
        # were proven with or without them.
        self._added: set[str] = set()
        self._understood: set[str] = set()
        self._warned: set[str] = set()  # fields that were put in their places

    def check(self, number: int, header: Any, receipts: Any) -> Verdict:
        """Check a block, given as structs; `receipts` is None where they are too large."""
        raw = self._raw.block(number)
        try:
            verdict = self._check_header(number, header, raw)
        except (ValueError, TypeError, AttributeError) as error:
            return Verdict(f"malformed fields of the header ({type(error).__name__})")
        if verdict.contradiction or OWN_HEADER in verdict.unproven:
            return verdict
        body = self._check_body(number, header, receipts, raw)
        unproven = (*verdict.unproven, *body.unproven)
        if body.contradiction and self._is_excused(header, body.contradiction):
            return Verdict("", (*unproven, body.contradiction))
        return Verdict(body.contradiction, unproven)

    def _check_body(self, number: int, header: Any, receipts: Any, raw: RawBlock) -> Verdict:
        senders = self._computes_senders
        if receipts is None:
            sent = check_transactions(header, raw, computes_senders=senders)
            return sent._replace(unproven=(*sent.unproven, TOO_LARGE))
        body = check_body(header, receipts, raw, computes_senders=senders)
        if body.contradiction in OUT_OF_PLACE and put_in_place(header, receipts):
            self._warn_of_places(number, body.contradiction)
            body = check_body(header, receipts, raw, computes_senders=senders)
        return body

    def _warn_of_places(self, number: int, fields: str) -> None:
        if fields not in self._warned:
            self._warned.add(fields)
            text = "block %d, and maybe later ones, have another %s than their roots prove"
            log.warning(text, number, fields)

    def record_proven(self, number: int) -> None:
        """Record that the chain has a block whose header was proven."""
        if self._proven_from is None or number < self._proven_from:
            self._proven_from = number
            self._has_own_form = False

    def _check_header(self, number: int, header: Any, raw: RawBlock) -> Verdict:
        if self._is_proven(header) or self._learns_order(number, header):
            self.record_proven(number)
            return Verdict()
        encoded = raw.header()
        if encoded is not None and keccak256(encoded) == data(header.hash, 32):
            self.record_proven(number)
            return Verdict("" if agrees_with_bytes(header, encoded) else "header and its bytes")
        fields = unknown_fields(header).keys() - self._understood
        is_like_ethereum = self._is_like_ethereum()
        if not (fields <= self._added if is_like_ethereum else self._has_own_form):
            self._look_around(number)
            fields -= self._understood
        has_proven = self._proven_from is not None and self._proven_from < number
        if not is_like_ethereum and not has_proven:
            self._has_own_form = True
            return Verdict("", (OWN_HEADER,))
        if not fields or not fields <= self._added:
            return Verdict("header and hash")
        return Verdict("", (f"header with fields {_listed(sorted(fields))}, {UPDATE}",))

    def _is_proven(self, header: Any) -> bool:
        if self._orders:
            fields = unknown_fields(header)
            for order in self._orders:
                if fields.keys() >= {*order}:
                    return has_hash_with(header, [fields[name] for name in order])
        return has_its_hash(header)

    def _learns_order(self, number: int, header: Any) -> bool:
        """Return whether the block's hash covers unknown fields, and remember them."""
        order = find_order(header, unknown_fields(header))
        if order and order not in self._orders:
            log.warning("since block %d headers have %s, %s", number, _listed(order), UPDATE)
            self._orders = sorted([*self._orders, order], key=len, reverse=True)
        return bool(order)

    def _look_around(self, number: int) -> None:
        """Read the next header of the node and earlier ones, and remember what they show: a fork
        whose fields cannot be proven is in another header, too, and a fault is not."""
        numbers = [number + 1, *_earlier(number)]
        calls = [Call("eth_getBlockByNumber", (hex(other), False)) for other in numbers]
        for other, answer in zip(numbers, self._node.batch(calls), strict=True):
            if isinstance(answer, dict) and self._proves(other, answer) and other < number:
                return

    def _proves(self, number: int, answer: dict[str, Any]) -> bool:
        """Return whether a header is proven, and remember its unknown fields."""
        try:
            header = read_json({**answer, "transactions": []}, BlockJson, number)
        except MalformedBlock:
            return False
        is_proven = self._is_proven(header) or self._learns_order(number, header)
        if is_proven:
            self.record_proven(number)
        names = self._understood if is_proven else self._added
        names.update(unknown_fields(header))
        return is_proven

    def _is_like_ethereum(self) -> bool:
        if self._chain_id is None:
            try:
                self._chain_id = quantity(self._node.call("eth_chainId"))
            except (RpcError, BadHex):
                return False
        return self._chain_id in LIKE_ETHEREUM

    def _is_excused(self, header: Any, contradiction: str) -> bool:
        """Return whether blocks of this chain, or of this node, are known to have it."""
        if header.withdrawalsRoot is None and chain_id_of(header.transactions) == L1_OF_CELO:
            return True
        if contradiction == UNSIGNED_SENDERS and self._chain_id == OP_MAINNET:
            return True
        try:
            version = str(self._node.call("web3_clientVersion")).lower()
        except (RpcError, NodeError):
            return False
        known = next((k for c, k in DEVELOPMENT_NODES.items() if version.startswith(c)), {})
        return contradiction in known and not (known[contradiction] and header.transactions)


def _earlier(number: int) -> list[int]:
    """Return the numbers 1, 2, 4, 8 … before a block, and 0."""
    return [number - (1 << power) for power in range(number.bit_length())] + [0] * (number > 0)


def _listed(names: Any) -> str:
    return ", ".join(name[:MOST_NAME_CHARACTERS] for name in names)
