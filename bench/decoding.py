"""What reading a block takes of the processor, from the text of a node's answer to rows.

    python -m bench.decoding

Microseconds a transaction of the synthetic chain, medians, on standard output as JSON: parsed and
decoded, as COPY text, and as columns of Parquet. Each step includes those before it. Others are
alone: `check` of parsed blocks, their hash and roots; traces, from text to transfers, of which 1 us
is the synthetic chain's.
"""

import gc
import json
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median
from typing import Any

import msgspec
import orjson

from bench.chain import Chain
from bench.shape import TRANSACTIONS
from scan.ethereum.block_decoder import decode_block
from scan.ethereum.block_hashing import header_hash
from scan.ethereum.block_validation import contradicting_fields
from scan.ethereum.blocks import BlockJson, DecodedBlock, ReceiptsJson, read_json
from scan.ethereum.client import MAX_ANSWER_BYTES
from scan.ethereum.traces import read_call_traces, read_flat_traces
from scan.ethereum.transport import read_answer
from scan.extensions.bulk.block_columns import RangeTables
from scan.extensions.bulk.spool import FETCH_BLOCKS
from scan.hex import to_hex
from scan.indexer.block_rows import make_block_rows
from scan.indexer.block_source import FetchedBlock
from scan.indexer.log_selection import NO_LOGS
from scan.indexer.prefetch_process import OBJECTS_BETWEEN_COLLECTIONS

BLOCKS = 60
RUNS = 7
CHAIN = Chain.of(BLOCKS)


def main() -> None:
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    texts = _texts()
    blocks = [fetched.block for request in _fetched(texts) for fetched in request]
    steps: dict[str, Callable[[], object]] = {
        "decode": partial(_decode, texts),
        "copy": partial(_copy, texts),
        "parquet": partial(_parquet, texts),
        "check": partial(_check, [*_parsed()]),
        "callTracer": partial(_traces, read_call_traces, "callTracer", blocks),
        "trace_block": partial(_traces, read_flat_traces, "trace_block", blocks),
    }
    seconds: dict[str, list[float]] = {name: [] for name in steps}
    for _ in range(RUNS):  # alternating
        for name, step in steps.items():
            began = time.process_time()
            step()
            seconds[name].append(time.process_time() - began)
    transactions = BLOCKS * TRANSACTIONS
    microseconds = {name: median(runs) / transactions * 1e6 for name, runs in seconds.items()}
    print(json.dumps({"microseconds_a_transaction": microseconds}, indent=1))


def _texts() -> list[bytes]:
    """Answers to requests of several blocks with their receipts."""
    return [
        b"[%s]"
        % b",".join(
            b'{"jsonrpc":"2.0","id":%d,"result":%s}' % (2 * place + part, result)
            for place, number in enumerate(range(first, first + FETCH_BLOCKS))
            for part, result in enumerate((CHAIN.block(number), CHAIN.receipts(number)))
        )
        for first in range(0, BLOCKS, FETCH_BLOCKS)
    ]


def _parsed() -> Iterator[tuple[Any, Any]]:
    for number in range(BLOCKS):
        block = read_json(msgspec.Raw(CHAIN.block(number)), BlockJson, number)
        yield block, read_json(msgspec.Raw(CHAIN.receipts(number)), ReceiptsJson, number)


def _check(blocks: list[tuple[Any, Any]]) -> None:
    for block, receipts in blocks:
        if to_hex(header_hash(block)) != block.hash or contradicting_fields(block, receipts):
            raise AssertionError("a block does not match its roots")


def _traces(read: Callable[..., object], kind: str, blocks: list[DecodedBlock]) -> None:
    for block in blocks:
        read(block, orjson.loads(CHAIN.traces(kind, block.number)))


def _fetched(texts: list[bytes]) -> Iterator[list[FetchedBlock]]:
    for request, text in enumerate(texts):
        results = [reply["result"] for reply in read_answer(text, MAX_ANSWER_BYTES, raw=True)]
        pairs = zip(results[::2], results[1::2], strict=True)
        yield [
            FetchedBlock(decode_block(*pair, number), [], (), False)
            for number, pair in enumerate(pairs, start=request * FETCH_BLOCKS)
        ]


def _decode(texts: list[bytes]) -> None:
    for _ in _fetched(texts):
        pass


def _copy(texts: list[bytes]) -> None:
    for blocks in _fetched(texts):
        for block in blocks:
            make_block_rows(block, NO_LOGS)


def _parquet(texts: list[bytes]) -> None:
    tables = RangeTables(NO_LOGS)
    for blocks in _fetched(texts):
        tables.add(blocks)
    tables.finish()


if __name__ == "__main__":
    main()
