"""The messages of all topics: one thread a process reads the chain's new records once, and sends
them to the clients that have joined a topic which they are about.

Without clients there is no thread's work, and no stream is read.
"""

import logging
import os
import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import orjson
from flask import Flask

from scan.errors import ScanError, Unavailable, UpstreamFailed
from scan.extensions.blockscout import address_and_token_objects, blocks
from scan.extensions.blockscout.transaction_lists import transaction_objects
from scan.extensions.history import balance_history
from scan.extensions.history.blockscout import coin_balance_object
from scan.extensions.phoenix.channels import SILENT_S, Message, Socket, Topics
from scan.extensions.streams import block_events, broadcaster, open_response
from scan.hex import data
from scan.http.request_state import RequestState, Services, begin_serving, end_serving
from scan.queries import addresses, network
from scan.queries.reader import Reader

log = logging.getLogger(__name__)

FILTER = block_events.StreamFilter(frozenset({"heads", "transactions", "token_transfers"}))
LOOK_EVERY_S = 1.0  # for verifications that have ended
CHECK_EVERY_S = 15.0  # for clients that have left
MOST_UNREAD = 64  # pieces of a stream; one that is further ahead is opened anew
MOST_ROWS = 50  # of one message

Record = dict[str, Any]


class Sockets:
    """The open WebSockets of a process."""

    def __init__(self, core: Services) -> None:
        self._core = core
        self._topics = Topics()
        self._open = open_response.OpenStreams[Socket]()
        # Pieces of the stream, with what is called once they are read.
        self._pieces: queue.Queue[tuple[bytes, Callable[[], object] | None]]
        self._pieces = queue.Queue(MOST_UNREAD)
        self._stream: broadcaster.Stream | None = None
        self._has_clients = threading.Event()
        self._lock = threading.Lock()
        self._process = 0
        self._app: Flask | None = None
        self._verified_since: datetime | None = None
        self._verified: Set[str] = frozenset()  # the jobs that the last look has returned
        self._looked_at = self._checked_at = 0.0

    def open(self, client: Hashable, address: Hashable, app: Flask) -> Socket:
        """Return a client's socket, which the caller attaches or closes; raises RateLimited and
        Unavailable where too many are open."""
        socket = Socket(client, address, self._topics, self._open.remove)
        self._open.add(socket)
        with self._lock:
            self._app = app
            if not self._has_clients.is_set():
                self._looked_at = time.monotonic()  # what ended before is no client's, but for 5 s
            if self._process != os.getpid():  # threads do not survive a fork
                threading.Thread(target=self._run, name="sockets", daemon=True).start()
                self._process = os.getpid()
        self._has_clients.set()
        return socket

    # The sink of the stream, which other threads call

    def send(self, text: bytes, then: Callable[[], object] | None = None) -> None:
        try:
            self._pieces.put_nowait((text, then))
        except queue.Full:
            self.end()

    def end(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()

    # The thread that sends

    def _run(self) -> None:
        while True:
            try:
                self._work()
            except ScanError as error:
                log.debug("sockets wait: %s", error)
                time.sleep(LOOK_EVERY_S)
            except Exception:
                log.exception("sending to sockets failed; going on")
                time.sleep(LOOK_EVERY_S)

    def _work(self) -> None:
        if not self._open.listed():
            self.end()
            self._has_clients.clear()
            if not self._open.listed():  # none was opened meanwhile
                self._has_clients.wait()
            self._verified_since = None
        if self._stream is None:
            self._stream = self._core.sources.get(broadcaster.Streams).open("sockets", FILTER, None)
            self._stream.attach(self)
        try:
            text, then = self._pieces.get(timeout=LOOK_EVERY_S)
        except queue.Empty:
            pass
        else:
            self._broadcast(self._messages_of(text))
            if then is not None:
                then()
        self._look_for_verifications()
        self._disconnect_silent()

    def _broadcast(self, messages: Sequence[Message]) -> None:
        for topic, event, payload in messages:
            text = orjson.dumps(payload)
            for socket in self._topics.clients(topic):
                socket.push(topic, event, text)

    def _disconnect_silent(self) -> None:
        now = time.monotonic()
        if now - self._checked_at >= CHECK_EVERY_S:
            self._checked_at = now
            for socket in self._open.listed():
                if now - socket.heard_at > SILENT_S:
                    socket.disconnect()

    def _look_for_verifications(self) -> None:
        now = time.monotonic()
        passed_s = now - self._looked_at
        if passed_s < LOOK_EVERY_S:
            return
        self._looked_at = now
        if not any(topic.startswith("addresses:0x") for topic in self._topics.joined()):
            self._verified_since = None
            return
        row = self._core.writes.row(
            "queries/verification_jobs_list_finished", since=self._verified_since, passed_s=passed_s
        )
        assert row is not None
        self._verified_since, jobs = row
        ended = {job["id"]: job for job in orjson.loads(jobs)}
        for id_ in ended.keys() - self._verified:
            self._send_verification(ended[id_])
        self._verified = ended.keys()

    def _send_verification(self, job: Record) -> None:
        """Send how a verification ended; why one failed to its own client alone, as others may
        wait for the same contract."""
        for topic, event, payload in _verification_messages(job):
            for socket in self._topics.clients(topic):
                if job["status"] == "done" or socket.address == job["client"]:
                    socket.push(topic, event, orjson.dumps(payload))

    @contextmanager
    def _request(self) -> Iterator[Reader]:
        """What makes objects of records reads the chain as the views of a request do."""
        assert self._app is not None
        reader = Reader(self._core.sources, "sockets")
        state = RequestState({}, "GET", "/", "sockets", time.perf_counter(), "sockets")
        state.reader = reader
        token = begin_serving(state)
        try:
            with self._app.test_request_context():
                yield reader
        finally:
            end_serving(token)

    def _messages_of(self, text: bytes) -> list[Message]:
        """Return the messages about the events of a piece of a stream; what a fork takes back has
        none, as at Blockscout."""
        records: dict[str, list[Record]] = {type_: [] for type_ in FILTER.types}
        for lines in text.split(b"\n\n"):
            fields = dict(line.partition(b": ")[::2] for line in lines.split(b"\n"))
            type_ = fields.get(b"event", b"").decode()
            if type_ in records:
                record = orjson.loads(fields[b"data"])
                if not record.get("removed"):
                    records[type_].append(record)
        if not any(records.values()):
            return []
        with self._request() as reader:
            return [
                *_of_heads(reader, records["heads"], self._topics.joined()),
                *_of_transactions(reader, records["transactions"], self._topics.joined()),
                *_of_transfers(reader, records["token_transfers"], self._topics.joined()),
            ]


def _verification_messages(job: Record) -> list[Message]:
    topic = f"addresses:{job['address']}"
    if job["status"] == "done":
        return [
            (topic, "verification_result", {"status": "success"}),
            (topic, "smart_contract_was_verified", {}),
        ]
    errors = {"files": [job["message"] or "The contract could not be verified."]}
    return [(topic, "verification_result", {"status": "error", "errors": errors})]


def _of_heads(reader: Reader, heads: Sequence[Record], joined: frozenset[str]) -> Iterator[Message]:
    of_miners = {f"blocks:{head['miner']}" for head in heads}
    if heads and joined & {"blocks:new_block", *of_miners}:
        block_time = str(network.totals(reader)["blockTimeMs"] or 0)
        for head, block in zip(heads, blocks.block_objects(heads), strict=True):
            payload = {"average_block_time": block_time, "block": block}
            for topic in ("blocks:new_block", f"blocks:{head['miner']}"):
                yield topic, "new_block", payload
    if heads and "blocks:indexing" in joined:
        progress = network.indexed_share(reader)
        status: dict[str, Any] = {"finished": progress.is_complete, "ratio": str(progress.share)}
        yield "blocks:indexing", "index_status", status


def _of_transactions(
    reader: Reader, records: Sequence[Record], joined: frozenset[str]
) -> Iterator[Message]:
    if records:
        yield "transactions:new_transaction", "transaction", {"transaction": len(records)}
    for record in records:
        yield f"transactions:{record['hash']}", "collated", {}
    for address, of_address in _by_address(records, joined):
        topic, key, number = f"addresses:{address}", data(address), of_address[-1]["blockNumber"]
        yield topic, "transaction", {"transactions": transaction_objects(of_address[-MOST_ROWS:])}
        count = addresses.counts(reader, key, 0)["transactions"]
        yield topic, "count", {"count": str(count)}
        with suppress(UpstreamFailed, Unavailable):  # the node does not give the balance
            changes, _ = balance_history.coin_balances_page(reader, key, 1)
            for change in changes:
                yield topic, "coin_balance", {"coin_balance": coin_balance_object(change)}
                balance = {"block_number": number, "exchange_rate": None}
                value = str(change.value)
                yield topic, "current_coin_balance", {"coin_balance": value, **balance}
                yield topic, "balance", {"balance": value, **balance}


def _of_transfers(
    reader: Reader, records: Sequence[Record], joined: frozenset[str]
) -> Iterator[Message]:
    counts = Counter(record["tokenAddress"] for record in records)
    for token, count in counts.items():
        yield f"tokens:{token}", "token_transfer", {"token_transfer": count}
    for address, of_address in _by_address(records, joined):
        transfers = address_and_token_objects.transfer_objects(of_address[-MOST_ROWS:])
        yield f"addresses:{address}", "token_transfer", {"token_transfers": transfers}
        number = of_address[-1]["blockNumber"]
        yield f"addresses:{address}", "token_balance", {"block_number": number}


def _by_address(
    records: Sequence[Record], joined: frozenset[str]
) -> Iterator[tuple[str, list[Record]]]:
    """Return the records of the addresses whose topics are joined."""
    parties = ("fromAddress", "toAddress", "contractAddress")
    of_addresses: dict[str, list[Record]] = {}
    for record in records:
        for address in {record.get(party) for party in parties} - {None}:
            if f"addresses:{address}" in joined:
                of_addresses.setdefault(str(address), []).append(record)
    yield from of_addresses.items()
