"""A node over JSON-RPC: batches, retry and bounds on answers; errors are in node_errors.py."""

import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from scan.ethereum import served_chain
from scan.ethereum.node_errors import PRUNED_HISTORY, BlockMissing, StatePruned, too_large
from scan.ethereum.node_errors import AnswerTooLarge as AnswerTooLarge
from scan.ethereum.node_errors import BatchRefused as BatchRefused
from scan.ethereum.node_errors import HistoryPruned as HistoryPruned
from scan.ethereum.node_errors import MalformedResponse as MalformedResponse
from scan.ethereum.node_errors import NodeError as NodeError
from scan.ethereum.node_errors import RateLimited as RateLimited
from scan.ethereum.node_errors import RpcError as RpcError
from scan.ethereum.node_errors import StateUnavailable as StateUnavailable
from scan.ethereum.node_errors import TimedOut as TimedOut
from scan.ethereum.node_errors import WrongChain as WrongChain
from scan.ethereum.transport import Call as Call
from scan.ethereum.transport import Transport, results_of
from scan.hex import BadHex, quantity, to_hex
from scan.setting_kinds import node_origins

log = logging.getLogger(__name__)

# The bound on one answer, unless a caller passes `most_bytes`. A batch whose answer is larger is
# divided. A parsed answer takes up to five times as much memory.
MAX_ANSWER_BYTES = 8 * 1024 * 1024
MAX_BATCH = 200
LAGGING_BLOCKS = 16  # by which one of several nodes behind a URL may be behind
REST_AFTER_FAILURE_S = 10.0  # a failing node of several is left alone for this long


class Node:
    """One node, or several that serve the same chain; safe to use from several threads.

    Messages of the errors raised never hold a URL, which may carry credentials. Where a contract
    decides an answer's size, the caller passes `most_bytes`: a larger answer is AnswerTooLarge.
    Without it, an answer above MAX_ANSWER_BYTES is a NodeError.
    """

    def __init__(
        self,
        urls: Sequence[str],
        *,
        timeout_s: float = 30.0,
        ca_bundle: str = "",
        chain: served_chain.ServedChain | None = None,
    ) -> None:
        """With `chain` a node that serves another one is a node that fails, by WrongChain; without,
        whoever calls it compares the chain."""
        self._urls = tuple(urls)
        self._chain = chain
        self._timeout_s = timeout_s
        self._ca_bundle = ca_bundle
        self._transport = Transport(ca_bundle)
        self._resting_until: dict[str, float] = {}
        self._singles: dict[str, Node] = {}
        self._batch_sizes: dict[str, int] = {}  # by the method of a batch's first call
        self._takes_block_hashes: dict[str, bool] = {}  # by URL, until it fails
        self._undecided_until: dict[str, float] = {}  # by URL, where that was not to be told

    @property
    def takes_block_hashes(self) -> bool | None:
        """Whether the node that serves now takes block hashes; None where it was not tried yet."""
        return next(map(self._takes_block_hashes.get, self._usable_urls()), None)

    @property
    def origins(self) -> str:
        """The nodes as logs may show them: scheme and host alone, since URLs may have keys."""
        return node_origins(",".join(self._urls))

    @property
    def waited_s(self) -> float:
        """The seconds that this thread has waited for answers."""
        return self._transport.thread.waited_s

    @property
    def wrong_chain(self) -> str:
        """Why a node is refused that serves another chain; "" where none is known to."""
        return "" if self._chain is None else self._chain.problem

    @property
    def is_configured(self) -> bool:
        return bool(self._urls)

    @property
    def is_single(self) -> bool:
        return len(self._urls) == 1

    @property
    def rules_id(self) -> int | None:
        """The id of the chain by whose rules blocks are read; None where none is expected yet."""
        return None if self._chain is None else self._chain.rules_id

    def check_chains(self, timeout_s: float) -> None:
        """Learn of each node whether it serves the chain that is expected."""
        for url in self._urls:
            with suppress(NodeError):
                self._require_chain(url, time.monotonic() + timeout_s, anew=True)

    def single_nodes(self) -> list["Node"]:
        """Return a Node for each URL, except those that rest after a failure."""
        now = time.monotonic()
        return [self._single(url) for url in self._urls if self._resting_until.get(url, 0.0) <= now]

    def all_single_nodes(self) -> list["Node"]:
        """Return a Node for each URL, those that do not rest first."""
        return [*map(self._single, self._usable_urls())]

    def _single(self, url: str) -> "Node":
        if url not in self._singles:
            self._singles[url] = Node(
                [url], timeout_s=self._timeout_s, ca_bundle=self._ca_bundle, chain=self._chain
            )
        return self._singles[url]

    def rest(self) -> None:
        """Let the node that serves now rest for REST_AFTER_FAILURE_S, where there is another."""
        if not self.is_single:
            self._resting_until[self._usable_urls()[0]] = time.monotonic() + REST_AFTER_FAILURE_S

    def call(self, method: str, *params: object, most_bytes: int | None = None) -> Any:
        """Return the result of one call. Raises NodeError, RpcError, or AnswerTooLarge where the
        answer is above `most_bytes`."""
        [result], _ = self._exchange([Call(method, params)], None, most_bytes)
        if isinstance(result, RpcError):
            raise result
        return result

    def once(self, calls: Sequence[Call], timeout_s: float) -> list[Any]:
        """Return the results of calls, in one request to one node, which is not tried again."""
        [url, *_] = self._usable_urls()
        return self._ask(url, calls, timeout_s, None)[0]

    def batch(
        self, calls: Sequence[Call], timeout_s: float | None = None, most_bytes: int | None = None
    ) -> list[Any]:
        """Return the results of calls as a list, as results() yields them. Raises AnswerTooLarge
        where one answer, or all together, are above `most_bytes`."""
        results = [*self.results(calls, timeout_s, most_bytes, most_bytes)]
        for result in results:
            if isinstance(result, AnswerTooLarge):
                raise result
        return results

    def results(
        self,
        calls: Sequence[Call],
        timeout_s: float | None = None,
        most_bytes: int | None = None,
        most_bytes_in_all: int | None = None,
        *,
        raw: bool = False,
    ) -> Iterator[Any]:
        """Yield results in the order of the calls; a call that the node refused gives an RpcError
        value, one with which answers are above `most_bytes_in_all`, and those after it,
        AnswerTooLarge.

        With `raw`, other results may be msgspec.Raw, for a caller who knows their types.
        Batches halve when the node refuses or breaks one, or its answer is too large, and grow
        back as they pass. `timeout_s` bounds all exchanges together; without it, each exchange has
        the timeout of this Node.
        """
        done = all_bytes = 0
        ends_at = None if timeout_s is None else time.monotonic() + timeout_s
        while done < len(calls):
            method = calls[done].method
            size = self._batch_sizes.get(method, MAX_BATCH)
            chunk = calls[done : done + size]
            try:
                results, read_bytes = self._exchange(chunk, ends_at, most_bytes, raw)
            except NodeError as error:
                self._batch_sizes[method] = max(1, len(chunk) // 2)
                if not _is_worth_halving(error, len(chunk)):
                    raise
                continue
            # A batch whose answer takes more than half of the bound does not grow: a larger answer
            # would be read in vain.
            if len(chunk) == size and 2 * read_bytes <= (most_bytes or MAX_ANSWER_BYTES):
                self._batch_sizes[method] = min(MAX_BATCH, size + max(1, size // 8))
            all_bytes += read_bytes
            if most_bytes_in_all is not None and all_bytes > most_bytes_in_all:
                yield from [too_large(most_bytes_in_all)] * (len(calls) - done)
                return
            yield from results
            done += len(chunk)

    def _exchange(
        self,
        calls: Sequence[Call],
        ends_at: float | None,
        most_bytes: int | None,
        raw: bool = False,
    ) -> tuple[list[Any], int]:
        """Return the results of the first node that answers, with the bytes of its answer. A node
        that fails rests for a while.

        Nodes share the time until `ends_at`, so that a frozen one leaves some to the next.
        """
        failure: NodeError | None = None
        urls = self._usable_urls()
        for index, url in enumerate(urls):
            timeout_s = self._timeout_s
            if ends_at is not None:
                timeout_s = (ends_at - time.monotonic()) / (len(urls) - index)
            if timeout_s <= 0:
                raise failure or TimedOut("the node did not respond in time")
            try:
                return self._ask(url, calls, timeout_s, most_bytes, raw)
            except NodeError as error:
                if _is_worth_halving(error, len(calls)):
                    raise
                failure = error
                # Another node may be on the block's fork, or serve the right chain.
                if isinstance(error, StateUnavailable | WrongChain):
                    continue
                # After the rest another program may answer at this URL.
                self._takes_block_hashes.pop(url, None)
                rest_s = max(REST_AFTER_FAILURE_S, error.retry_after_s or 0.0)
                self._resting_until[url] = time.monotonic() + rest_s
        raise failure or NodeError("no node is configured (RPC_URL)")

    def _usable_urls(self) -> list[str]:
        """Return the URLs, those that do not rest first, then the others by the end of their rest:
        a resting node is better than none, and where all rest they take turns."""
        now = time.monotonic()
        return sorted(self._urls, key=lambda url: max(self._resting_until.get(url, 0.0), now))

    def _ask(
        self,
        url: str,
        calls: Sequence[Call],
        timeout_s: float,
        most_bytes: int | None,
        raw: bool = False,
    ) -> tuple[list[Any], int]:
        """Return the results of one request, and the bytes of its answer."""
        ends_at = time.monotonic() + timeout_s
        blocks = {p for call in calls for p in call.params if isinstance(p, served_chain.BlockId)}
        by_hash = bool(blocks) and self._try_block_hashes(url, timeout_s) is not False
        written, most = calls, most_bytes or MAX_ANSWER_BYTES
        headers: list[Call] = []
        if blocks:
            written = [Call(c.method, served_chain.write(c.params, by_hash=by_hash)) for c in calls]
        if blocks and not by_hash:  # of one batch, which one node behind the URL answers
            headers = [Call("eth_getBlockByNumber", (hex(b.number), False)) for b in blocks]
            most += MAX_ANSWER_BYTES
        try:
            answer, size = self._post(url, [*written, *headers], timeout_s, most, raw)
            results = results_of(answer, len(written) + len(headers))
        except AnswerTooLarge as error:
            if len(calls) > 1:
                raise BatchRefused(error.message) from None
            if most_bytes is None:
                raise NodeError(error.message) from None
            return [error], 0
        except BatchRefused as error:
            if not headers or _is_worth_halving(error, len(calls)) or isinstance(error, TimedOut):
                raise
            # It may take no batches.
            parts = [self._ask(url, [call], timeout_s, most, raw) for call in (*written, *headers)]
            results, size = [result for [result], _ in parts], parts[0][1]
        missing = [
            i for i, r in enumerate(results) if isinstance(r, RpcError) and r.is_missing_method
        ]
        if missing:
            # A node's callers remember for minutes that it lacks a method, so it says so twice.
            again = [(*written, *headers)[index] for index in missing]
            answer, _ = self._post(url, again, timeout_s, most, raw)
            for index, result in zip(missing, results_of(answer, len(again)), strict=True):
                results[index] = result
        if headers:
            served_chain.require_canonical(blocks, results[len(calls) :])
        if by_hash and any(map(served_chain.is_malformed_request, results)):
            self._takes_block_hashes.pop(url, None)  # pop: another thread may have done it
            if self._try_block_hashes(url, timeout_s) is False:
                raise StateUnavailable("the node no longer takes block hashes")
        results = results[: len(calls)]
        self._add_reason(url, calls, written, results, ends_at, most + MAX_ANSWER_BYTES)
        return results, size

    def _add_reason(
        self,
        url: str,
        calls: Sequence[Call],
        written: Sequence[Call],
        results: list[Any],
        ends_at: float,
        most_bytes: int,
    ) -> None:
        """Replace errors of queries of state by StatePruned or BlockMissing where they are that.

        Each client has its own words for state that it has pruned. So one of the queries that
        failed, of the newest block among them, is made again, and also on the latest state: where
        that alone is answered, the block's state is missing. A failure that has passed, and one
        that the latest state has, too, stay what they are.
        """
        failed = [
            (param, index)
            for index, call in enumerate(calls)
            for param in call.params
            if isinstance(param, served_chain.BlockId) and _is_failure(results[index])
        ]
        if not failed:
            return
        block, chosen = max(failed)
        failure = results[chosen]
        latest = ["latest" if param == block else param for param in calls[chosen].params]
        of_block = Call("eth_getBlockByNumber", (hex(block.number), False))
        probes = [written[chosen], Call(calls[chosen].method, latest), of_block]
        probes.append(Call("eth_blockNumber", ()))
        node = self if self.is_single else self._single(url)
        left_s = ends_at - time.monotonic()
        again, newest, header, head = node.results(probes, left_s, most_bytes)
        if not _is_failure(again):
            results[chosen] = again
        elif newest is not None and not _is_failure(newest):
            has_block = isinstance(header, dict) and header.get("hash") == to_hex(block.hash)
            has_block = has_block or getattr(header, "code", 0) == PRUNED_HISTORY
            with suppress(BadHex):  # of several nodes behind the URL, only one may have a new block
                if failure.is_missing_block and failure.code != PRUNED_HISTORY:
                    has_block = has_block and quantity(head) >= block.number + LAGGING_BLOCKS
            for _, index in failed:
                if results[index].code == failure.code:
                    reason = StatePruned if has_block else BlockMissing
                    results[index] = reason(failure.code, results[index].words)

    def _try_block_hashes(self, url: str, timeout_s: float) -> bool | None:
        """Return whether the node takes block hashes: tried once for each URL, again after a
        failure, and every few seconds while it is not to be told, None: it is sent them then."""
        takes = self._takes_block_hashes.get(url)
        if takes is not None or time.monotonic() < self._undecided_until.get(url, 0.0):
            return takes

        def ask(method: str, params: tuple[object, ...]) -> Any:
            return self._ask(url, [Call(method, params)], timeout_s, None)[0][0]

        takes = served_chain.try_block_hashes(ask)
        if takes is None:
            self._undecided_until[url] = time.monotonic() + served_chain.CHECK_AGAIN_S
            return None
        self._takes_block_hashes[url] = takes
        way = "by block hash" if takes else "by number, and checked: the node takes no block hashes"
        log.info("state is read %s (EIP-1898)", way)
        return takes

    def _post(
        self, url: str, calls: Sequence[Call], timeout_s: float, most_bytes: int, raw: bool
    ) -> tuple[Any, int]:
        """Return the answer of a node that serves the right chain: the only way to any node."""
        ends_at = time.monotonic() + timeout_s
        cannot_be_undone = any(call.method.startswith("eth_send") for call in calls)
        # A connection whose first request failed is checked before the next one.
        is_new = self._transport.take_connected()
        self._require_chain(url, ends_at, anew=is_new or cannot_be_undone)
        answer = self._transport.post(url, calls, ends_at - time.monotonic(), most_bytes, raw)
        if self._transport.take_connected():
            self._require_chain(url, ends_at, anew=True)
        return answer

    def _require_chain(self, url: str, ends_at: float, *, anew: bool) -> None:
        """Raise WrongChain where the node serves another chain than is expected, and NodeError."""

        def ask(method: str, params: Sequence[object]) -> Any:
            left_s = ends_at - time.monotonic()
            answer, _ = self._transport.post(url, [Call(method, params)], left_s, MAX_ANSWER_BYTES)
            self._transport.take_connected()
            return results_of(answer, 1)[0]

        if self._chain is not None:
            self._chain.require(url, ask, anew=anew)


def _is_failure(result: Any) -> bool:
    return isinstance(result, RpcError) and not result.is_refusal


def _is_worth_halving(error: NodeError, calls: int) -> bool:
    return calls > 1 and isinstance(error, BatchRefused) and not isinstance(error, TimedOut)
