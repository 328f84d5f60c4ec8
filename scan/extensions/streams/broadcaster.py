"""The open streams: one thread reads each new block once, and sends clients the events they want.

A client that is behind, as every client is when it connects, is served by a few other threads until
it has caught up; then its stream is live. Threads never wait for a client.
"""

import logging
import os
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from scan.database import connection, notifications
from scan.errors import PositionLost, ScanError, Unavailable
from scan.extensions.streams import block_events, open_response

log = logging.getLogger(__name__)

CATCHING_UP_THREADS = 2
HEARTBEAT_S = 15.0
LOOK_EVERY_S = 1.0  # where no notification comes
LOOK_EVERY_ON_REPLICA_S = 0.1  # which receives no notifications
RETRY_AFTER_S = 1.0
MAX_AHEAD_S = 60.0  # for which the database may lack a client's newest block
MAX_LOST = 1000
# Blocks for a client that is behind before the next one's turn: few, so that both read the same.
BLOCKS_AT_A_TIME = 10
MAX_TURN_S = 0.1  # after which the turn ends with the current block
# A client is sent more once it has taken this much; a stream with a larger block to send is behind.
MOST_SENT_BYTES = 512 * 1024


class Sink(Protocol):
    """A client's connection; neither method waits."""

    def send(self, data: bytes, then: Callable[[], object] | None = None) -> None:
        """Send data; `then` is called once the client has taken everything."""

    def end(self) -> None:
        """End the connection once all data are sent, and call close() of its stream."""


class Stream:
    """One client's stream; while it is behind, it has been sent all events up to `position`, as the
    index had them at `version`: an older one is not read any more."""

    def __init__(
        self, streams: "Streams", address: Hashable, stream_filter: block_events.StreamFilter
    ) -> None:
        self.filter = stream_filter
        self.position = block_events.Position(0, b"", 0)  # until it is known
        self.version = 0
        self.address = address
        self.ahead_since = 0.0
        self.arrived_at: block_events.Position | None = None
        self.sink: Sink | None = None
        self.is_closed = False
        self._streams = streams

    def attach(self, sink: Sink) -> None:
        """Attach the connection, to which events are sent from now on."""
        self.sink = sink
        if self.is_closed:
            sink.end()
        else:
            self._streams.resume(self)

    def close(self) -> None:
        """Close the stream; closing it again has no effect."""
        self._streams.remove(self)

    def close_unless_attached(self) -> None:
        if self.sink is None:
            self.close()

    def send(self, data: bytes, then: Callable[[], object] | None = None) -> None:
        assert self.sink is not None
        self.sink.send(data, then)

    def end(self, error: ScanError) -> None:
        """End the stream with an error, which the client also gets if it connects again."""
        assert self.sink is not None
        self.sink.send(open_response.ending(error))
        self.sink.end()

    def displace(self) -> None:
        """End the stream, whose place another one has; its client connects again."""
        self.is_closed = True
        if self.sink is not None:
            self.end(Unavailable("Too many streams of your network are open.", retry_after_s=5))


class Streams:
    def __init__(
        self,
        reads: connection.Database,
        listener: notifications.Listener | None,
        *,
        most_sent_bytes: int = MOST_SENT_BYTES,
        max_ahead_s: float = MAX_AHEAD_S,
        **most_open: int,
    ) -> None:
        """`listener` receives new versions of the index; it is None where `reads` is a replica.
        `most_open` are bounds of OpenStreams."""
        self._most_sent_bytes, self._max_ahead_s = most_sent_bytes, max_ahead_s
        self._reads = reads
        self._behind = block_events.SharedReads(reads)
        self._listener = listener
        self._lock = threading.Lock()
        self._process = 0
        self._open = open_response.OpenStreams(Stream.displace, **most_open)
        self._turns = open_response.FairQueue[Stream]()
        self._arriving: deque[Stream] = deque()  # have caught up, and are not live yet
        self._waiting: deque[Stream] = deque()  # are resumed after RETRY_AFTER_S
        self._lost: deque[block_events.Position] = deque(maxlen=MAX_LOST)  # in vain waited for
        # Used only by the thread that reads new blocks.
        self._position: block_events.Position | None = None
        self._version = 0
        self._live: dict[block_events.StreamFilter, set[Stream]] = {}
        self._by_key: defaultdict[block_events.Key, set[block_events.StreamFilter]]
        self._by_key = defaultdict(set)
        self._sent_at = 0.0
        self._retried_at = 0.0

    def open(
        self,
        address: Hashable,
        stream_filter: block_events.StreamFilter,
        position: block_events.Position | None,
    ) -> Stream:
        """Open a stream from a position, None for the newest; the caller attaches or closes it.

        Raises RateLimited and Unavailable before anything is read, and PositionLost.
        """
        stream = Stream(self, address, stream_filter)
        self._open.add(stream)
        try:
            stream.position, stream.version = self._known_position(position)
            self._start()
        except BaseException:
            stream.close()
            raise
        return stream

    def _known_position(
        self, position: block_events.Position | None
    ) -> tuple[block_events.Position, int]:
        """Return the position to begin at, and the version of the index in which it is known;
        raises PositionLost where it is not."""
        if position is not None:
            events = block_events.read_next(self._reads, position, (), self._behind.orphaned)
            if events.is_ahead and position in self._lost:
                raise _not_indexed(position)
            return position, events.version
        newest = block_events.read_newest(self._reads)
        if newest is None:
            raise Unavailable("Nothing is indexed yet.", retry_after_s=10)
        return newest.position, newest.version

    def remove(self, stream: Stream) -> None:
        stream.is_closed = True
        self._open.remove(stream)

    def resume(self, stream: Stream) -> None:
        """Have a thread send the events that a stream lacks, when it is its address's turn."""
        self._turns.add(stream.address, stream)
        self._threads.submit(self._catch_up)

    def _start(self) -> None:
        """Start the threads once a process: they do not survive a fork."""
        with self._lock:
            if self._process == os.getpid():
                return
            self._waker = notifications.Waker()
            self._threads = ThreadPoolExecutor(CATCHING_UP_THREADS, "streams-behind")
            threading.Thread(target=self._run, name="streams", daemon=True).start()
            self._process = os.getpid()

    # Clients that are behind

    def _catch_up(self) -> None:
        """Send the next events to the stream whose turn it is."""
        stream = self._turns.next()
        if stream.is_closed:
            return
        try:
            data, events = self._next_of(stream)
            if stream.is_closed:
                return
            if not events.is_ahead:
                stream.ahead_since = 0.0
            if data:
                stream.send(data, lambda: self.resume(stream))
            elif events.is_ahead:
                self._wait_for_block(stream)
            elif events.is_newest:
                self._arriving.append(stream)
                self._waker.wake()
            else:
                self.resume(stream)
        except PositionLost as error:
            stream.end(error)
        except ScanError as error:
            log.debug("a stream waits for the database: %s", error)
            self._try_again(stream)
        except Exception:
            log.exception("a stream failed")
            stream.end(ScanError("The stream failed; it has been logged."))

    def _next_of(self, stream: Stream) -> tuple[bytes, block_events.Events]:
        """Return the text to send to a stream, whose position it advances, and the last events."""
        texts: list[bytes] = []
        size, position = 0, stream.position
        ends_at = time.monotonic() + MAX_TURN_S
        for _ in range(BLOCKS_AT_A_TIME):
            try:
                events = self._behind.read_next(position, stream.filter.types, stream.version)
            except ScanError:
                if texts:  # it is raised again at the next turn
                    break
                raise
            position, stream.version = events.position, events.version
            for event in filter(stream.filter.matches, events.events):
                texts.append(open_response.event_text(event))
                size += len(texts[-1])
                if size >= self._most_sent_bytes:
                    position = block_events.parse_position(event.position, "position")
                    break
            is_full = size >= self._most_sent_bytes or time.monotonic() >= ends_at
            if is_full or events.is_newest or events.is_ahead:
                break
        stream.position = position
        return b"".join(texts), events

    def _wait_for_block(self, stream: Stream) -> None:
        """Wait for a block that another instance, or the primary before a failover, has shown."""
        stream.ahead_since = stream.ahead_since or time.monotonic()
        if time.monotonic() - stream.ahead_since > self._max_ahead_s:
            self._lost.append(stream.position)
            raise _not_indexed(stream.position)
        self._try_again(stream)

    def _try_again(self, stream: Stream) -> None:
        """Have a stream resumed after RETRY_AFTER_S, and wake the thread that does it."""
        self._waiting.append(stream)
        self._waker.wake()

    # Clients that have caught up

    def _run(self) -> None:
        while True:
            try:
                self._admit()
                events = self._read_new()
                if events is None:
                    self._send_heartbeats()
                    self._wait()
                else:
                    self._send_new(events)
            except ScanError as error:
                log.debug("streams wait for the database: %s", error)
                self._send_comment(error.message)
                time.sleep(RETRY_AFTER_S)
            except Exception:
                log.exception("reading new blocks for streams failed; retrying")
                time.sleep(RETRY_AFTER_S)

    def _admit(self) -> None:
        """Make streams live that have caught up; those that lack a newer block read on.

        A stream that arrives twice at one position has read another replica than this thread.
        """
        self._drop_closed()
        for _ in range(len(self._arriving)):
            stream = self._arriving.popleft()
            if not self._live:
                self._position, self._version = stream.position, stream.version
            if stream.position == self._position:
                self._version = max(self._version, stream.version)
                self._add_live(stream)
            elif stream.position == stream.arrived_at:
                self._waiting.append(stream)
            else:
                stream.arrived_at = stream.position
                self.resume(stream)

    def _add_live(self, stream: Stream) -> None:
        if stream.filter not in self._live:
            self._live[stream.filter] = set()
            for key in stream.filter.index_keys():
                self._by_key[key].add(stream.filter)
        self._live[stream.filter].add(stream)

    def _drop_closed(self) -> None:
        for stream_filter, streams in list(self._live.items()):
            streams -= {stream for stream in streams if stream.is_closed}
            if streams:
                continue
            del self._live[stream_filter]
            for key in stream_filter.index_keys():
                self._by_key[key].discard(stream_filter)
                if not self._by_key[key]:
                    del self._by_key[key]

    def _read_new(self) -> block_events.Events | None:
        """Return the events of the next block; None where there is none, or no live stream."""
        if not self._live or self._position is None:
            return None
        types = frozenset().union(*(stream_filter.types for stream_filter in self._live))
        try:
            events = block_events.read_next(
                self._reads, self._position, types, self._behind.orphaned, self._version
            )
        except PositionLost as error:
            for stream in self._live_streams():
                stream.end(error)
            self._live.clear()
            self._by_key.clear()
            return None
        if events.is_ahead or events.is_newest:
            return None
        self._behind.note_fork(self._position, events)
        self._version = events.version
        return events

    def _send_new(self, events: block_events.Events) -> None:
        texts: defaultdict[block_events.StreamFilter, list[bytes]] = defaultdict(list)
        for event in events.events:
            text = open_response.event_text(event)
            for stream_filter in self._candidates(event):
                if stream_filter.matches(event):
                    texts[stream_filter].append(text)
        for stream_filter, pieces in texts.items():
            data = b"".join(pieces)
            if len(data) > self._most_sent_bytes:
                self._leave_behind(stream_filter)
            for stream in self._live[stream_filter]:
                stream.send(data)
        self._position = events.position

    def _leave_behind(self, stream_filter: block_events.StreamFilter) -> None:
        """Have the streams of a filter read the new block by themselves, in pieces."""
        assert self._position is not None
        for stream in self._live[stream_filter]:
            stream.position, stream.version = self._position, self._version
            self.resume(stream)
        self._live[stream_filter] = set()

    def _candidates(self, event: block_events.BlockEvent) -> set[block_events.StreamFilter]:
        """Return filters among which are all that match the event."""
        if event.type == "heads":
            return set(self._live)
        return set().union(*(self._by_key.get(key, ()) for key in block_events.index_keys(event)))

    def _send_heartbeats(self) -> None:
        """Resume waiting streams, and send live ones the position, others a comment, at times."""
        now = time.monotonic()
        if now - self._retried_at >= RETRY_AFTER_S:
            self._retried_at = now
            for _ in range(len(self._waiting)):
                self.resume(self._waiting.popleft())
        if now - self._sent_at < HEARTBEAT_S:
            return
        self._sent_at = now
        self._behind.orphaned.forget()
        live = set(self._live_streams())
        behind = [s for s in self._open.listed() if s.sink is not None and s not in live]
        for stream in live:
            stream.send(open_response.heartbeat(self._position))
        for stream in behind:
            stream.send(open_response.KEEP_ALIVE)

    def _send_comment(self, text: str) -> None:
        """Send all streams a comment at times, such as why nothing comes: a full disk, a server
        that has ended."""
        now = time.monotonic()
        if now - self._sent_at >= HEARTBEAT_S:
            self._sent_at = now
            for stream in [s for s in self._open.listed() if s.sink is not None]:
                stream.send(open_response.comment(text))

    def _live_streams(self) -> list[Stream]:
        return [stream for streams in self._live.values() for stream in streams]

    def _wait(self) -> None:
        """Wait until a block or a stream arrives, or until it is time to look for one."""
        is_idle = not (self._live or self._waiting)
        if self._listener is not None and is_idle:
            self._listener.close()  # nobody would read its notifications
        if self._listener is None or is_idle:
            self._waker.wait(HEARTBEAT_S if is_idle else LOOK_EVERY_ON_REPLICA_S)
        elif self._listener.connection is not None:
            self._listener.wait(LOOK_EVERY_S, self._waker)
        else:
            self._listener.connect("http/chain_get_version")


def _not_indexed(position: block_events.Position) -> PositionLost:
    return PositionLost(
        f"Block {position.number} is not indexed. Open a stream without a position."
    )
