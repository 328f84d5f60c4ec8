"""What a transaction takes at least of the processor, in one process of Python, with the libraries
that are there: a plain loop without rules of the chain.

The node's answers are decoded into typed structs, each sender is recovered, what each root and hash
covers is hashed once, and each transaction and log becomes a line of COPY text.
"""

import statistics
import time
from typing import Any

import msgspec
from coincurve import PublicKey

from bench.processes import post
from scan.cached_values import json_decoder
from scan.ethereum.blocks import BlockJson, ReceiptsJson
from scan.ethereum.rlp_and_tries import keccak256

BLOCKS, ROUNDS = 20, 7


class _Answer(msgspec.Struct):
    result: Any


def floor_us(url: str) -> dict[str, float]:
    """Return microseconds of a transaction of the node's first blocks by step, the median of some
    rounds; `floor` is their sum."""
    bodies = [
        (
            post(url, "eth_getBlockByNumber", hex(number), True),
            post(url, "eth_getBlockReceipts", hex(number)),
        )
        for number in range(1, BLOCKS + 1)
    ]
    rounds = [_steps(bodies) for _ in range(ROUNDS)]
    steps = {step: statistics.median(taken[step] for taken in rounds) for step in rounds[0]}
    return {"floor": sum(steps.values()), **steps}


def _steps(bodies: list[tuple[bytes, bytes]]) -> dict[str, float]:
    block_type, receipts_type = (
        json_decoder(msgspec.defstruct("Answer", [("result", result)]))
        for result in (BlockJson.plain, ReceiptsJson.plain)
    )
    times = [time.process_time()]
    blocks = [
        (block_type.decode(block).result.transactions, receipts_type.decode(receipts).result)
        for block, receipts in bodies
    ]
    times.append(time.process_time())
    transactions = [transaction for sent, _ in blocks for transaction in sent]
    receipts = [receipt for _, received in blocks for receipt in received]
    for sent in transactions:
        signature = b"".join(bytes.fromhex(half[2:].zfill(64)) for half in (sent.r, sent.s))
        parity = bytes([int(sent.v, 16) & 1])
        key = PublicKey.from_signature_and_message(
            signature + parity, bytes.fromhex(sent.hash[2:]), hasher=None
        )
        keccak256(key.format(compressed=False)[1:])
    times.append(time.process_time())
    for sent, received in zip(transactions, receipts, strict=True):
        call, logs = bytes.fromhex(sent.input[2:]), received.logs
        keccak256(call)  # what is signed, what its hash covers, and a leaf of either root
        keccak256(call)
        keccak256(call)
        keccak256(b"".join(bytes.fromhex(log.data[2:]) for log in logs))
    times.append(time.process_time())
    lines = []
    for sent, received in zip(transactions, receipts, strict=True):
        lines.append("\t".join(map(str, msgspec.structs.astuple(sent))))
        lines += [f"{log.address}\t{log.topics}\t{log.data}" for log in received.logs]
    "\n".join(lines).encode()
    times.append(time.process_time())
    steps = ("JSON", "senders", "hashes", "COPY text")
    taken = zip(steps, times, times[1:], strict=False)
    return {step: (end - start) / len(transactions) * 1e6 for step, start, end in taken}
