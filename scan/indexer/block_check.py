"""Whether hashes prove a block that a node gave, and what it is that they do not prove."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from scan.ethereum.block_encoding import BLOBS_INSIDE
from scan.ethereum.block_hashing import OUT_OF_PLACE, has_its_hash, put_in_place
from scan.ethereum.block_validation import Verdict, check_body
from scan.ethereum.blocks import BlockJson, MalformedBlock, read_json
from scan.ethereum.client import Call, Node, NodeError, RpcError
from scan.ethereum.forms.matching import LIKE_ETHEREUM
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
from scan.hex import data

log = logging.getLogger(__name__)

MOST_NAME_CHARACTERS = 40
OWN_HEADER = "header and hash, as the chain has headers of its own form"
UPDATE = "unknown to this version of Scan, update it"
# The chain ids that nodes for development have by default: anvil's and Hardhat's, and Ganache's.
DEVELOPMENT_CHAINS = frozenset((31_337, 1_337))
# What their blocks contradict, by how web3_clientVersion begins; and whether blocks without
# transactions alone do.
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

    def __init__(
        self, node: Node, chain_id: Callable[[], int], *, computes_senders: bool = True
    ) -> None:
        self._node = node
        self._computes_senders = computes_senders
        self._raw = RawBlocks(node)
        self._chain_id = chain_id
        self._orders: list[tuple[str, ...]] = []  # of unknown fields in headers, the newest first
        self._proven_from: int | None = None  # the first block whose header was proven
        self._has_own_form = False  # whether no earlier header of the node is proven
        self._warned: set[str] = set()  # fields that were put in their places

    def check(
        self,
        number: int,
        header: Any,
        receipts: Sequence[Any],
        leaves: Sequence[bytes] | None = None,
        raw: RawBlocks | None = None,
    ) -> Verdict:
        """Check a block, given as structs. `leaves` are the encoded receipts, where these have no
        logs any more; `raw` reads the bytes of its parts, by default from the node that serves."""
        own_raw = (raw or self._raw).block(number)
        try:
            verdict = self._check_header(number, header, own_raw)
        except (ValueError, TypeError, AttributeError) as error:
            return Verdict(f"malformed fields of the header ({type(error).__name__})")
        if verdict.contradiction or OWN_HEADER in verdict.unproven:
            return verdict
        chain_id = self._chain_id()
        check = partial(
            check_body,
            header,
            receipts,
            own_raw,
            chain_id,
            leaves,
            computes_senders=self._computes_senders,
        )
        body = check()
        if body.contradiction in OUT_OF_PLACE and put_in_place(header, receipts, chain_id):
            self._warn_of_places(number, body.contradiction)
            body = check()
        unproven = (*verdict.unproven, *body.unproven)
        if body.contradiction and self._is_excused(header, body.contradiction):
            return Verdict("", (*unproven, body.contradiction))
        return Verdict(body.contradiction, unproven)

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
        is_like_ethereum = self._chain_id() in LIKE_ETHEREUM
        if not is_like_ethereum and not self._has_own_form:
            self._look_around(number)
        has_proven = self._proven_from is not None and self._proven_from < number
        if is_like_ethereum or has_proven:
            fields = _listed(sorted(unknown_fields(header)))
            return Verdict("header and hash" + (f", with fields {fields}, {UPDATE}" * bool(fields)))
        self._has_own_form = True
        return Verdict("", (OWN_HEADER,))

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
        """Read the next header of the node and earlier ones, until one before the block is proven:
        a chain whose headers have a form of their own has none."""
        numbers = [number + 1, *_earlier(number)]
        calls = [Call("eth_getBlockByNumber", (hex(other), False)) for other in numbers]
        for other, answer in zip(numbers, self._node.batch(calls), strict=True):
            if isinstance(answer, dict) and self._proves(other, answer) and other < number:
                return

    def _proves(self, number: int, answer: dict[str, Any]) -> bool:
        """Return whether a header is proven, and record it."""
        try:
            header = read_json({**answer, "transactions": []}, BlockJson, number)
        except MalformedBlock:
            return False
        is_proven = self._is_proven(header) or self._learns_order(number, header)
        if is_proven:
            self.record_proven(number)
        return is_proven

    def _is_excused(self, header: Any, contradiction: str) -> bool:
        """Return whether blocks of this chain, or of this node for development, are known to have
        it."""
        chain_id = self._chain_id()
        if chain_id == L1_OF_CELO:
            return header.withdrawalsRoot is None
        if chain_id == OP_MAINNET:
            return contradiction == UNSIGNED_SENDERS
        if chain_id not in DEVELOPMENT_CHAINS:
            return False
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
