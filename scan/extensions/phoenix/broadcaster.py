"""The messages of all topics: a thread reads the chain's new records once, and sends them to the
clients that have joined a topic which they are about. What takes longer, the messages about
addresses, a second thread makes, in an order in which clients take turns.

Without clients there is no thread's work, and no stream is read. Nothing is left out in silence:
where records are lost to a socket, it is closed, and its client connects again.
"""

import logging
import os
import queue
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager, suppress
from datetime import datetime
from typing import Any

import orjson
from flask import Flask
from wsproto.frame_protocol import CloseReason

from scan.errors import ScanError, Unavailable, UpstreamFailed
from scan.extensions.blockscout import address_and_token_objects, blocks
from scan.extensions.blockscout.transaction_lists import transaction_objects
from scan.extensions.history import balance_history
from scan.extensions.history.blockscout import coin_balance_object
from scan.extensions.phoenix.channels import SILENT_S, FrameLimit, Message, Socket, Topics
from scan.extensions.streams import block_events, broadcaster, open_response
from scan.hex import data
from scan.http.request_state import RequestState, begin_serving, end_serving
from scan.http.services import Services
from scan.queries import addresses, network
from scan.queries.reader import Reader

log = logging.getLogger(__name__)

FILTER = block_events.StreamFilter(frozenset({"heads", "transactions", "token_transfers"}))
LOOK_EVERY_S = 1.0  # for verifications that have ended
CHECK_EVERY_S = 15.0  # for clients that have left
MOST_UNREAD_BYTES = 32 * 1024 * 1024  # of a stream, whose pieces have a block's records
MOST_ROWS = 50  # of one message
# For how many addresses a client waits at once: of its others with records, in the block or blocks
# that have come meanwhile, nothing is made. A page joins one.
MOST_DUE = 20

Record = dict[str, Any]
Records = dict[str, list[Record]]  # by type


class DueAddresses:
    """Joined addresses that have new records, whose messages are still to be made."""

    def __init__(self) -> None:
        self._due: dict[Hashable, dict[str, Records]] = {}  # by client, in the order of turns
        self._changed = threading.Condition()

    def add(self, client: Hashable, address: str, records: Records) -> None:
        """Add records of an address that a client has joined; more of one that is due are told
        together."""
        with self._changed:
            due = self._due.setdefault(client, {})
            if address in due or len(due) < MOST_DUE:
                of_address = due.setdefault(address, defaultdict(list))
                for type_, of_type in records.items():
                    of_address[type_] = [*of_address[type_], *of_type][-MOST_ROWS:]
            self._changed.notify()

    def next(self) -> tuple[str, Records]:
        """Wait for an address, and remove it, for all clients that wait for it."""
        with self._changed:
            self._changed.wait_for(lambda: self._due)
            client, due = next(iter(self._due.items()))
            address, records = next(iter(due.items()))
            self._due[client] = self._due.pop(client)
            for other in [*self._due]:
                self._due[other].pop(address, None)
                if not self._due[other]:
                    del self._due[other]
            return address, records


class Sockets:
    """The open WebSockets of a process."""

    def __init__(self, core: Services) -> None:
        self._core = core
        self._topics = Topics()
        self._frames = FrameLimit()
        self._due = DueAddresses()
        self._open = open_response.OpenStreams(Socket.disconnect)
        # Pieces of the stream, with what is called once they are read.
        self._pieces: queue.SimpleQueue[tuple[bytes, Callable[[], object] | None]]
        self._pieces = queue.SimpleQueue()
        self._unread_bytes = 0
        self._stream: broadcaster.Stream | None = None
        self._has_clients = threading.Event()
        self._lock = threading.Lock()
        self._process = 0
        self._app: Flask | None = None
        self._verified_since: datetime | None = None
        self._verified: Set[str] = frozenset()  # the jobs that the last look has returned
        self._looked_at = self._checked_at = 0.0

    def open(self, address: Hashable, app: Flask) -> Socket:
        """Return a client's socket, which the caller attaches or closes; raises RateLimited and
        Unavailable where too many are open."""
        socket = Socket(address, self._topics, self._frames, self._open.remove)
        self._open.add(socket)
        with self._lock:
            self._app = app
            if not self._has_clients.is_set():
                # Jobs that ended earlier than 5 s ago are told to nobody.
                self._looked_at = time.monotonic()
            if self._process != os.getpid():  # threads do not survive a fork
                for target in (self._run, self._run_addresses):
                    threading.Thread(target=target, name="sockets", daemon=True).start()
                self._process = os.getpid()
        self._has_clients.set()
        return socket

    # The sink of the stream, which other threads call

    def send(self, text: bytes, then: Callable[[], object] | None = None) -> None:
        with self._lock:
            is_full = self._unread_bytes + len(text) > MOST_UNREAD_BYTES
            if not is_full:
                self._unread_bytes += len(text)
                self._pieces.put((text, then))
        if is_full:
            self.end()

    def end(self) -> None:
        """Leave the stream, and disconnect all clients, which lack its next records."""
        self._leave_stream()
        for socket in self._open.listed():
            socket.disconnect(CloseReason.TRY_AGAIN_LATER)

    def _leave_stream(self) -> None:
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
            self._leave_stream()
            self._has_clients.clear()
            if not self._open.listed():  # none was opened meanwhile
                self._has_clients.wait()
            self._verified_since = None
        if self._stream is None:
            stream = self._core.sources.get(broadcaster.Streams).open("sockets", FILTER, None)
            self._stream = stream
            stream.attach(self)
        try:
            text, then = self._pieces.get(timeout=LOOK_EVERY_S)
        except queue.Empty:
            pass
        else:
            with self._lock:
                self._unread_bytes -= len(text)
            try:
                self._send_records(text)
            except Exception:
                self.end()
                raise
            if then is not None:
                then()
        self._look_for_verifications()
        self._disconnect_silent()

    def _broadcast(self, messages: Iterable[Message]) -> None:
        """Send each message before the next one is made."""
        for topic, event, payload in messages:
            if clients := self._topics.clients(topic):
                text = orjson.dumps(payload)
                for socket in clients:
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

    def _send_records(self, text: bytes) -> None:
        """Send the messages about the events of a piece of a stream, those of addresses later; what
        a fork takes back has none, as at Blockscout."""
        records: Records = {type_: [] for type_ in FILTER.types}
        for lines in text.split(b"\n\n"):
            fields = dict(line.partition(b": ")[::2] for line in lines.split(b"\n"))
            type_ = fields.get(b"event", b"").decode()
            if type_ in records:
                record = orjson.loads(fields[b"data"])
                if not record.get("removed"):
                    records[type_].append(record)
        if not any(records.values()):
            return
        joined = self._topics.joined()
        with self._request() as reader:
            self._broadcast(_of_heads(reader, records["heads"], joined))
        if sent := len(records["transactions"]):
            self._broadcast(
                [("transactions:new_transaction", "transaction", {"transaction": sent})]
            )
        for record in records["transactions"]:
            self._broadcast([(f"transactions:{record['hash']}", "collated", {})])
        tokens = Counter(record["tokenAddress"] for record in records["token_transfers"])
        for token, count in tokens.items():
            self._broadcast([(f"tokens:{token}", "token_transfer", {"token_transfer": count})])
        for address, of_address in _by_address(records, joined).items():
            clients = {socket.address for socket in self._topics.clients(f"addresses:{address}")}
            for client in clients:
                self._due.add(client, address, of_address)

    # The thread that makes the messages about addresses

    def _run_addresses(self) -> None:
        while True:
            address, records = self._due.next()
            try:
                with self._request() as reader:
                    self._broadcast(_of_address(reader, address, records))
            except Exception as error:
                if isinstance(error, ScanError):
                    log.debug("the messages about an address fail: %s", error)
                else:
                    log.exception("the messages about an address fail; going on")
                for socket in self._topics.clients(f"addresses:{address}"):
                    socket.disconnect(CloseReason.TRY_AGAIN_LATER)


def _verification_messages(job: Record) -> list[Message]:
    topic = f"addresses:{job['address']}"
    if job["status"] == "done":
        return [
            (topic, "verification_result", {"status": "success"}),
            (topic, "smart_contract_was_verified", {}),
        ]
    if job["formField"] is None:  # it came by another interface, and no form waits for it
        return []
    errors = {job["formField"]: [job["message"] or "The contract could not be verified."]}
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


def _of_address(reader: Reader, address: str, records: Records) -> Iterator[Message]:
    topic, key = f"addresses:{address}", data(address)
    if transactions := records["transactions"]:
        yield topic, "transaction", {"transactions": transaction_objects(transactions)}
        count = addresses.counts(reader, key, 0)["transactions"]
        yield topic, "count", {"count": str(count)}
    if transfers := records["token_transfers"]:
        objects = address_and_token_objects.transfer_objects(transfers)
        yield topic, "token_transfer", {"token_transfers": objects}
        yield topic, "token_balance", {"block_number": transfers[-1]["blockNumber"]}
    if transactions:
        number = transactions[-1]["blockNumber"]
        with suppress(UpstreamFailed, Unavailable):  # the node does not give the balance
            changes, _ = balance_history.coin_balances_page(reader, key, 1)
            for change in changes:
                yield topic, "coin_balance", {"coin_balance": coin_balance_object(change)}
                balance = {"block_number": number, "exchange_rate": None}
                value = str(change.value)
                yield topic, "current_coin_balance", {"coin_balance": value, **balance}
                yield topic, "balance", {"balance": value, **balance}


def _by_address(records: Records, joined: frozenset[str]) -> dict[str, Records]:
    """Return the records of the addresses whose topics are joined."""
    parties = ("fromAddress", "toAddress", "contractAddress")
    of_addresses: dict[str, Records] = {}
    for type_ in ("transactions", "token_transfers"):
        for record in records[type_]:
            for address in {record.get(party) for party in parties} - {None}:
                if f"addresses:{address}" in joined:
                    of_address = of_addresses.setdefault(str(address), defaultdict(list))
                    of_address[type_].append(record)
    return of_addresses
