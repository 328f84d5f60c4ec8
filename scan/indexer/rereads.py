"""Counts of reads of blocks that a node returns malformed or with contradictions."""

import hashlib
import time
from collections import Counter
from typing import Any

import msgspec

from scan.ethereum.blocks import MalformedBlock

MAX_BLOCKS = 1_000
_ENCODER = msgspec.json.Encoder(enc_hook=repr)  # of responses that are too large


class _Reads:
    def __init__(self) -> None:
        self.since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.began = time.monotonic()
        self.digests: Counter[bytes] = Counter()


class Rereads:
    """The reads of a few blocks at a time. A block is forgotten once it is accepted."""

    def __init__(self) -> None:
        self._blocks: dict[int, _Reads] = {}

    def count(self, number: int, header: Any, receipts: Any) -> int:
        """Count a read of a block, and return how many reads so far had this very content."""
        if len(self._blocks) >= MAX_BLOCKS:
            self._blocks.clear()
        reads = self._blocks.setdefault(number, _Reads())
        digest = hashlib.sha256(_ENCODER.encode((header, receipts))).digest()
        reads.digests[digest] += 1
        return reads.digests[digest]

    def age_s(self, number: int) -> float:
        """Return the seconds since the first read that counts."""
        reads = self._blocks.get(number)
        return 0.0 if reads is None else time.monotonic() - reads.began

    def forget(self, number: int) -> None:
        self._blocks.pop(number, None)

    def error(self, number: int, disagreement: str) -> MalformedBlock:
        """Return the error to raise while a counted block is read again."""
        reads = self._blocks.get(number) or _Reads()
        count = reads.digests.total()
        return MalformedBlock(f"{disagreement}; read {count} times since {reads.since}")
