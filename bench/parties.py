"""Who takes part in a synthetic chain: few are very busy, most are seen once. Pure.

An address follows from its kind and number, which is drawn by Zipf's law among those that there are
at a height; the sources are in shape.py.
"""

from collections.abc import Sequence
from typing import Any

import numpy

from bench import signers
from bench.shape import (
    CONTRACT,
    CREATED,
    DEPLOYED,
    FRESH,
    FRESH_PERSON,
    NONCES,
    PERSON,
    POOL,
    SIGNER,
    TOKEN,
    TOKEN0,
    TOKEN1,
    TRANSACTIONS,
    WRAPPED,
    Party,
)
from scan.ethereum.rlp_and_tries import keccak256, list_item, quantity_item, string_item

TEMPLATES = 16
# How many of a kind there are before the first block, and how many a block adds.
POPULATIONS = {
    PERSON: (2_000, sum(FRESH.values())),
    TOKEN: (500, 0.08),
    POOL: (300, 0.05),
    CONTRACT: (2_000, 0.8),
}
STABLECOINS = (0.25, 0.18)  # shares of USDT and USDC in the transfers of tokens
WRAPPED_COIN = 2  # the number of that token, which half of the pools have

Bytes = numpy.ndarray[Any, Any]


class Parties:
    """The addresses of a height, in the places of a template."""

    def __init__(self, parties: Sequence[Party]) -> None:
        self._count = len(parties)
        self.kinds = numpy.array([party.kind for party in parties], numpy.uint64)
        of = numpy.array([party.of for party in parties])
        self._drawn = {kind: self._of(kind) for kind in POPULATIONS}
        self._fresh = self._of(FRESH_PERSON)
        self._deployed = self._of(DEPLOYED)
        self._wrapped = self._of(WRAPPED)
        self._signers = self._of(SIGNER)
        self._pool_tokens = [(self._of(kind), of[self._of(kind)]) for kind in (TOKEN0, TOKEN1)]
        self._created = [(n, p) for n, p in enumerate(parties) if p.kind == CREATED]
        self._kinds = self.kinds.copy()
        self._kinds[self._fresh] = PERSON
        self._kinds[self._wrapped] = TOKEN

    def _of(self, kind: int) -> Any:
        return numpy.flatnonzero(self.kinds == kind)

    def addresses(self, number: int) -> Bytes:
        """20 bytes each, the last of which is the kind, but for signers'."""
        draws = _mixed(numpy.arange(self._count, dtype=numpy.uint64) + numpy.uint64(number << 16))
        shares = draws / 2.0**64
        ids: Bytes = numpy.zeros(self._count, numpy.uint64)
        for kind, places in self._drawn.items():
            ids[places] = _ranks(shares[places], kind, number)
        people, added = POPULATIONS[PERSON]
        ids[self._fresh] = people + added * number + numpy.arange(len(self._fresh))
        ids[self._deployed] = numpy.arange(len(self._deployed)) + (number << 8)
        ids[self._wrapped] = WRAPPED_COIN
        addresses = _addresses(self._kinds, ids)
        ranks = _ranks(shares[self._signers], PERSON, number)
        addresses[self._signers] = signers.addresses()[ranks % numpy.uint64(signers.SIGNERS)]
        for side, (places, pools) in enumerate(self._pool_tokens):
            addresses[places] = pool_tokens(addresses[pools])[side]
        for mark, party in self._created:
            nonce = nonces(number)[party.transaction].tobytes()
            sender = addresses[party.of].tobytes()
            item = string_item("0x" + sender.hex()) + quantity_item("0x" + nonce.hex())
            digest = keccak256(bytes.fromhex(list_item(item)))
            addresses[mark] = numpy.frombuffer(digest[12:], numpy.uint8)
        return addresses


def pool_tokens(pools: Bytes) -> tuple[Bytes, Bytes]:
    """Both tokens of each pool, which follow from its address."""
    shares = pools[:, :8].copy().view(numpy.uint64)[:, 0] / 2.0**64
    first = _ranks(shares, TOKEN, 0)
    second = _ranks(shares * 1e4 % 1.0, TOKEN, 0)
    second[pools[:, 0] < 128] = WRAPPED_COIN
    second += first == second
    kinds: Bytes = numpy.full(len(pools), TOKEN, numpy.uint64)
    return _addresses(kinds, first), _addresses(kinds, second)


def _ranks(shares: Any, kind: int, number: int) -> Any:
    """Numbers below the population, the n-th drawn as often as 1/n says (Zipf)."""
    first, added = POPULATIONS[kind]
    if kind == TOKEN:
        tether, usdc = STABLECOINS
        rest = (shares - tether - usdc) / (1 - tether - usdc)
        ranks = _ranks_of(numpy.maximum(rest, 0), first + added * number) + 2
        ranks[shares < tether + usdc] = 1
        ranks[shares < tether] = 0
        return ranks.astype(numpy.uint64)
    return _ranks_of(shares, first + added * number).astype(numpy.uint64)


def _ranks_of(shares: Any, population: float) -> Any:
    return (population**shares).astype(numpy.int64) - 1


def _mixed(values: Any) -> Any:
    """Splitmix64: 64 bits that look random, and differ where the values do."""
    mixed = (values + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> numpy.uint64(31))


def _addresses(kinds: Any, ids: Any) -> Bytes:
    words: Bytes = numpy.empty((len(ids), 3), numpy.uint64)
    words[:, 0] = _mixed(ids + (kinds << numpy.uint64(56)))
    words[:, 1] = _mixed(words[:, 0])
    words[:, 2] = _mixed(words[:, 1])
    addresses: Bytes = words.view(numpy.uint8)[:, :20].copy()
    addresses[:, 19] = kinds
    return addresses


def is_contract(address: str) -> bool:
    """Whether code stands at an address: those of people end with their kind, or sign."""
    is_person = int(address[-2:], 16) == PERSON
    return not is_person and not signers.is_signer(bytes.fromhex(address[2:]))


def nonces(number: int) -> Bytes:
    """Of the transactions of a block, three bytes each; of the same template none is like another.

    An account's nonces are no sequence: nothing compares them.
    """
    first = NONCES + number // TEMPLATES * TRANSACTIONS % (0xFFFFFF - NONCES - TRANSACTIONS)
    values: Bytes = numpy.arange(first, first + TRANSACTIONS, dtype=">u4")
    return values.view(numpy.uint8).reshape(-1, 4)[:, 1:].copy()
