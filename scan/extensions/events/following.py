"""Which contracts are followed, their views, and their older logs.

From the next block on the indexer keeps a new contract's logs: its version in chain is another then
(see writer.py). Older ones are filled from there downwards, in blocks in which it emitted any: from
the table of logs where that has all, else from stored blocks, else from the node's blocks, which
their hashes prove. A step is one transaction, so that whoever comes next continues.
"""

import logging
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import accumulate, islice
from typing import Any, NamedTuple

import orjson

from scan import parameters
from scan.contracts import transaction_contents
from scan.contracts.abi import AbiError, parse_signature
from scan.database import connection, errors, transaction
from scan.errors import ScanError, SettingError, Unavailable, UpstreamFailed
from scan.ethereum import events, node_errors
from scan.ethereum.request_node import NodeGateway
from scan.ethereum.rlp_and_tries import keccak256
from scan.ethereum.stored_blocks import StoredBlock
from scan.extensions.decoding.contract_abis import Block, ContractAbis
from scan.extensions.events import event_decoding, event_tables, queries
from scan.extensions.events.event_tables import EventForm, EventTable, Version, events_in
from scan.extensions.events.queries import FollowedContract
from scan.extensions.events.rows import TABLE, ContractEvent, contract_event, contract_events
from scan.hex import data, to_hex
from scan.indexer import block_rows
from scan.indexer.block_source import BlockSource

log = logging.getLogger(__name__)

NAME = re.compile(r"[a-z][a-z0-9_]{0,30}")
MOST_AUTOMATIC = 100
MOST_CHANGES = 100  # of a proxy's implementations, whose blocks the node is asked about
SAMPLES = 32  # blocks of a proxy's newest logs, and as many between its first and its last
MOST_SEARCHED = 20  # changes without an event between two of these
CHANGES = [*events.CHANGES]
STEP_BLOCKS = 500
SPAN_BLOCKS = 10_000  # in which the blocks of a step are looked for with logs of child contracts
STEP_LOGS, STEP_BYTES = 20_000, 16 * 1024 * 1024
LOG_BYTES = 300  # of memory, of a log besides its data
STEP_BLOCKS_OF_NODE = 50
STEP_S = 0.2  # of a transaction that finds children, which then has more blocks, or fewer
STEP_REMOVED = 2000  # logs, and child contracts: 0.7 s where none is in memory
VIEWS_AT_ONCE = 50
COLUMNS = ContractEvent._fields
NO_BLOCK = "nothing is indexed yet: follow contracts once the first block is"
IN_BULK = "a bulk backfill is not finished: follow contracts after it"
GOING = "its removal has not ended: wait for the indexer, or run `scan events remove` again"


class CannotFollow(ScanError):
    """A contract cannot be followed; the message says why."""


# Errors that stay until somebody changes the ABI, the database's rights or its schema.
LASTING = (errors.NotPermitted, errors.SchemaMismatch, errors.LimitExceeded)
VIEWS_AGAIN_S = 60.0  # after such an error


class Children(NamedTuple):
    """The child contracts of a factory: those that an argument of its event names. `topics` are
    those that the event's logs have; the argument is in the `topic` of that index, else at an
    `offset` of their data."""

    factory: bytes
    event: str  # with names and `indexed`
    argument: str
    topic0: bytes
    topics: int
    topic: int | None
    offset: int | None

    @property
    def address(self) -> bytes:
        """What stands for them as an address: a hash."""
        position = f"{self.topics} {self.topic} {self.offset}"
        return keccak256(self.factory + self.topic0 + position.encode())

    def named_by(self) -> str:
        """Return the JSON of followed_contracts.named_by, without the factory."""
        members = {**self._asdict(), "topic0": self.topic0.hex()}
        return orjson.dumps({k: v for k, v in members.items() if k != "factory"}).decode()

    def definition(self) -> Mapping[str, Any]:
        """Return the factory's event as an ABI has it."""
        return {"type": "event", **parse_signature(self.event)}


def children_of(factory: bytes, event: str, argument: str | None) -> Children:
    """Return the contracts that an argument of a factory's event names: the only address where no
    name is given. Raises SettingError."""
    event = event.strip().removeprefix("event ").rstrip("; \n")
    try:
        [(_, entry)] = events_in([{"type": "event", **parse_signature(event)}]).read
    except (AbiError, ValueError) as error:
        reason = f"is not the signature of an event: {error}"
        raise SettingError("--children", event[:200], reason) from None
    addresses = {
        index: name
        for index, (name, abi_type) in enumerate(zip(entry.names, entry.types, strict=True))
        if abi_type.kind == "address"
    }
    named = [index for index, name in addresses.items() if argument in (name, None)]
    if len(named) != 1:
        known = ", ".join(addresses.values())
        reason = f"must name one address of the event: {known or 'none'}"
        raise SettingError("--argument", argument or "", reason)
    [index] = named
    topic0, topics = keccak256(entry.signature.encode()), 1 + sum(entry.indexed)
    topic = offset = None
    if entry.indexed[index]:
        topic = 1 + sum(entry.indexed[:index])
    else:
        plain = zip(entry.types[:index], entry.indexed[:index], strict=True)
        offset = sum(abi_type.head_bytes for abi_type, is_topic in plain if not is_topic)
    return Children(factory, event, entry.names[index], topic0, topics, topic, offset)


def _taken(name: str) -> str:
    return f"another contract is followed as {name}: give another --name"


class Fill(NamedTuple):
    """A contract, or the children of a factory, whose logs of blocks from `oldest` up to
    `complete_from` may be missing."""

    address: bytes
    complete_from: int
    oldest: int

    @property
    def step_from(self) -> int:
        """The oldest block of a step."""
        if event_tables.are_of_children(self.address):
            return max(self.oldest, self.complete_from - SPAN_BLOCKS)
        return self.oldest


class Change(NamedTuple):
    """The implementations of a contract from a block on, there from a transaction on if an event
    says so."""

    number: int
    at: set[bytes]
    transaction_index: int | None = None


class Following:
    """What is followed in one database. Without a node, implementations of proxies are not known,
    and only what is stored is filled."""

    step_bytes, views_again_s = STEP_BYTES, VIEWS_AGAIN_S

    def __init__(
        self,
        database: connection.Database,
        gateway: NodeGateway | None = None,
        source: BlockSource | None = None,
    ) -> None:
        self._database = database
        self._gateway = gateway
        self._source = source
        self._abis = ContractAbis(database)
        self._bodies = transaction_contents.TransactionContents(database)
        self._told_beyond = 0
        self._views_failed_s: dict[bytes, float] = {}  # when, by contracts
        self._newest_logs: dict[bytes, bytes] = {}  # hashes of blocks, by contracts
        self._newest: dict[bytes, tuple[set[bytes], str | None]] = {}  # implementations, change
        self._upgraded: set[bytes] = set()  # contracts whose views have not followed yet

    def contracts(self) -> list[FollowedContract]:
        return queries.contracts(self._database)

    def views(self, address: bytes) -> list[str]:
        """Return the names of a contract's views."""
        return [table.view for table in queries.tables(self._database, address)]

    def add_children(
        self, children: Children, name: str | None, abi: str
    ) -> tuple[FollowedContract, FollowedContract]:
        """Follow the children of a factory by their ABI, and the factory, and return both. Raises
        CannotFollow."""
        if name is None:
            name = event_tables.identifier(children.argument, "child", event_tables.MAX_CONTRACT)
            name = name if NAME.fullmatch(name) else "child"
        followed = self.contracts()
        if any(c.name == name and c.address != children.address for c in followed):
            raise CannotFollow(_taken(name))  # before the factory is followed for nothing
        factory = next((c for c in followed if c.address == children.factory), None)
        if factory is None:
            called = self._database.value("events/contract_get_name", address=children.factory)
            own = None if called else orjson.dumps([children.definition()]).decode()
            factory = self.add(children.factory, None if called else f"{name[:23]}_factory", own)
        return factory, self.add(children.address, name, abi, children=children)

    def add(
        self,
        address: bytes,
        name: str | None,
        abi: str | None = None,
        *,
        automatic: bool = False,
        children: Children | None = None,
    ) -> FollowedContract:
        """Follow a contract; one that is followed gets the ABI, if one is given. `name` is None for
        what its verification or build calls it. Raises CannotFollow."""
        known = {contract.address: contract for contract in self.contracts()}
        if (contract := known.get(address)) is not None:
            if name not in (None, contract.name):
                raise CannotFollow(
                    f"it is already followed as {contract.name}; names do not change"
                )
            if abi is not None:
                self._database.rows("events/contract_set_abi", address=address, abi=abi)
            return contract
        if self._database.value("indexer/bulk_backfill_is_unfinished"):
            raise CannotFollow(IN_BULK)
        taken = {contract.name for contract in known.values()}
        if name in taken:
            raise CannotFollow(_taken(name))
        if name is None:
            called = self._database.value("events/contract_get_name", address=address) or ""
            otherwise = f"contract_{address.hex()[:8]}"
            name = event_tables.identifier(called, otherwise, event_tables.MAX_CONTRACT)
            name = name if NAME.fullmatch(name) else otherwise
            name = event_tables.free(name, taken)
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            if address in [bytes(owner) for owner, _ in tx.rows("events/removals_list")]:
                raise CannotFollow(GOING)
            if automatic and tx.rows("indexer/followed_children_list", addresses=[address]):
                raise CannotFollow("it is followed as the child of a factory")
            row = tx.row(
                "events/contract_add",
                address=address,
                name=name,
                abi=abi,
                automatic=automatic,
                factory=children and children.factory,
                named_by=children and children.named_by(),
            )
            tx.execute("indexer/chain_notify")
        if row is None:
            raise CannotFollow(NO_BLOCK)
        return FollowedContract(address, name, row[0], automatic, None, None, 0, 0, 0)

    def remove(self, address: bytes) -> list[str]:
        """End following a contract, and return the names of its views, which are removed. Its logs
        and children are left to continue_removals()."""
        of_it = [contract.name for contract in self.contracts() if contract.factory == address]
        if of_it:
            raise CannotFollow(f"what it names is followed: remove {', '.join(of_it)} first")
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            if TABLE in {row[0] for row in tx.rows("audit/rebuilds_list")}:
                raise CannotFollow("its logs are being derived again (scan rebuild): try later")
            names = [name for (name,) in tx.rows("events/contract_remove", address=address)]
            tx.execute("indexer/chain_notify")
        return names

    def continue_removals(self) -> bool:
        """Remove some of what removed contracts have left, in a short transaction; return whether
        there was any."""
        row = self._database.row("events/removals_list")
        if row is None:
            return False
        owner, is_last = row
        if is_last:
            self._find_children()  # others may name it, or its own
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            step = {"address": owner, "is_last": is_last, "most": STEP_REMOVED}
            tx.execute("events/removal_continue", **step)
            tx.execute("indexer/chain_notify")
        return True

    def begin_children(self) -> None:
        """Find the children of factories whose logs are all there, and follow them."""
        due = [address for (address,) in self._database.rows("events/children_due_list")]
        if due or self._database.rows("events/children_automatic_list"):
            self._find_children(due)

    def _find_children(self, due: Sequence[bytes] = ()) -> None:
        """Find the children of factories in all their logs, some blocks in each transaction, and
        follow those of rules that are due. Contracts that are followed by themselves are so no
        more, and are found once their logs are gone."""
        first, head = self._database.row("audit/blocks_get_ends") or (0, -1)
        span = 1
        while first <= head:
            began = time.monotonic()
            with self._database.transaction() as tx:
                tx.execute("indexer/writes_lock")
                blocks = {"block_from": first, "block_to": first + span - 1}
                changed = tx.rows("indexer/followed_children_insert", **blocks)
                for (child,) in tx.rows("events/children_automatic_list"):
                    tx.execute("events/contract_remove", address=child)
                first += span
                rules, followed = {bytes(rule) for (rule,) in changed}, due if first > head else ()
                if rules or followed:
                    tx.execute("events/children_fill_anew", rules=[*rules], due=[*followed])
                    tx.execute("indexer/chain_notify")
            is_short = time.monotonic() - began < STEP_S
            span = min(2 * span, SPAN_BLOCKS) if is_short else max(1, span // 2)

    def follow_builds(self) -> None:
        """Follow contracts with the code of builds, the first MOST_AUTOMATIC."""
        rows = self._database.rows("events/built_contracts_list", most=MOST_AUTOMATIC)
        if not rows:
            return
        _, _, total, followed = rows[0]
        places = max(0, MOST_AUTOMATIC - followed)
        for address, name, *_ in rows[:places]:
            with suppress(CannotFollow):
                self.add(bytes(address), None, automatic=True)
                log.info("following %s, which is %s of a build", to_hex(bytes(address)), name)
        if total > places and total != self._told_beyond:
            log.warning(
                "%d contracts of builds or more are not followed, only the first %d:"
                " `scan events add` follows others",
                total - places,
                MOST_AUTOMATIC,
            )
            self._told_beyond = total

    def make_views(self) -> None:
        """Make views of events that are due, as contracts or their ABIs are new. Where those of a
        contract cannot be made, its problem says why, and they are tried again later."""
        self._note_upgrades()
        others = sorted(self._upgraded)
        for owner, name, abi, digest in self._database.rows(
            "events/contracts_list_due", others=others
        ):
            address = bytes(owner)
            failed_s = self._views_failed_s.get(address)
            if failed_s is not None and time.monotonic() < failed_s + self.views_again_s:
                continue
            try:
                self._make_views(address, name, abi, bytes(digest))
                self._views_failed_s.pop(address, None)
                self._upgraded.discard(address)
            except LASTING as error:
                self._views_failed_s[address] = time.monotonic()
                reason = error.reason if isinstance(error, errors.SchemaMismatch) else error.message
                is_new = self._database.rows(
                    "events/contract_set_views_problem", address=address, problem=reason[:300]
                )
                if is_new:
                    log.warning("views of the events of %s cannot be made: %s", name, reason)
        self.decode()

    def decode(self) -> int:
        """Decode a batch of the logs that are to be decoded; return how many it had."""
        return event_decoding.decode_queued(self._database)

    def _note_upgrades(self) -> None:
        """Note the proxies that emitted logs since they were looked at, and have another
        implementation now, or an event that says so."""
        rows = [
            (bytes(address), {*map(bytes, implementations)}, bytes(block_hash), head)
            for address, implementations, _, block_hash, *head in self._database.rows(
                "events/newest_logs_list"
            )
        ]
        rows = [row for row in rows if self._newest_logs.get(row[0]) != row[2]]
        if self._gateway is None or not rows:
            return
        number, head_hash = rows[0][3]
        session = self._gateway.session("events", is_optional=False)
        addresses = [address for address, *_ in rows]
        try:
            block = Block(number, to_hex(bytes(head_hash)))
            proxies = self._abis.proxies_at(addresses, block, session)
        except (UpstreamFailed, Unavailable):
            return
        for address, of_views, block_hash, _ in rows:
            at, change = set[bytes](), None
            if (proxy := proxies.get(address)) is not None:
                at = {*proxy.implementations}
                change = self._database.value(
                    "events/newest_change_get", address=address, topics=CHANGES
                )
            newest = self._newest.get(address)
            if (at, change) != newest if newest else not at <= of_views:
                self._upgraded.add(address)
            self._newest_logs[address] = block_hash
            self._newest[address] = at, change

    def _make_views(self, address: bytes, name: str, abi: str | None, digest: bytes) -> None:
        implementations: set[bytes] = set()
        if abi is not None:
            versions = [Version(0, orjson.loads(abi))]
        else:
            versions, implementations = self._versions(address)
        own = queries.tables(self._database, address)
        others = self._database.rows("events/view_names_list_others", address=address)
        taken = {view for (view,) in others}
        made = event_tables.merged(address, name, own, versions, taken)
        before = {table.view: table for table in own}
        changed = [t for t in made if before.get(t.view) != t]
        with self._database.transaction() as tx:
            if changed:
                _put(tx, address, changed)
                _queue(tx, address, [(before.get(t.view), t) for t in changed])
            tx.execute(
                "events/contract_set_digest",
                address=address,
                digest=digest,
                implementations=sorted(implementations),
                left_out=max((events_in(v.entries).left_out for v in versions), default=0),
            )
            tx.execute("indexer/chain_notify")

    def _versions(self, address: bytes) -> tuple[list[Version], set[bytes]]:
        """Return the ABIs that a contract had, by the blocks of its code and its implementations,
        and these."""
        of_blocks = self._changes(address)
        implementations = {one for change in of_blocks for one in change.at} - {address}
        abis: dict[bytes, list[tuple[int, Any]]] = {}
        for owner, first, text in self._database.rows(
            "events/versions_list", addresses=[address, *implementations]
        ):
            entries = [] if text is None else orjson.loads(text)
            abis.setdefault(bytes(owner), []).append((first, entries))

        def entries_at(owner: bytes, block: int) -> list[Any]:
            lives = [entries for first, entries in abis.get(owner, ()) if first <= block]
            return lives[-1] if lives else []

        # Code that came later: a block of its own where no implementation changed.
        firsts = {first for first, _ in abis.get(address, ())}
        for first in sorted(firsts - {change.number for change in of_blocks}):
            earlier = [change.at for change in of_blocks if change.number <= first]
            of_blocks.append(Change(first, earlier[-1] if earlier else set()))
        versions: list[Version] = []
        for number, at, index in sorted(of_blocks, key=lambda change: change.number):
            entries = entries_at(address, number)
            for one in sorted(at - {address}):
                entries = [*entries, *entries_at(one, number)]
            if not versions and entries:
                versions.append(Version(0, entries))
            elif entries and versions[-1].entries != entries:
                ended = self._ended_index(address, number, at) if index is None else index
                versions.append(Version(number, entries, index or 0, ended))
        return versions, implementations

    def _ended_index(self, address: bytes, number: int, at: set[bytes]) -> int:
        """Return up to which transaction of a block a contract may have had other implementations
        than after it, where no event says it: -1 where it had these before the block."""
        rows = self._database.rows("contracts/blocks_list_hashes", numbers=[number - 1])
        blocks = [Block(before, to_hex(bytes(block_hash))) for before, block_hash in rows]
        is_unchanged = any(self._implementations(address, block) == at for block in blocks)
        return -1 if is_unchanged else parameters.BIGINT_MAX

    def _changes(self, address: bytes) -> list[Change]:
        """Return a contract's implementations from blocks on, the oldest first, as far as the node
        has the state of these blocks. Where its events name them, each from its transaction on, the
        last one as the state has it."""
        rows = self._database.rows(
            "events/changes_list",
            address=address,
            topics=CHANGES,
            most=MOST_CHANGES,
            samples=SAMPLES,
            upgraded=events.UPGRADED,
        )
        blocks = [(Block(n, to_hex(bytes(block_hash))), *rest) for n, block_hash, *rest in rows]
        is_proxy = bool(blocks) and bool(self._implementations(address, blocks[-1][0]))
        changes: list[Change] = []
        for block, is_told, named in blocks:
            if is_told is False and not is_proxy:
                continue
            if (at := self._implementations(address, block)) is None:
                continue
            for _ in range(0 if is_told or not changes else MOST_SEARCHED):
                if changes[-1].at == at:
                    break
                changes.append(self._next_change(address, changes[-1], Change(block.number, at)))
            by_events = [
                Change(block.number, {data(implementation)}, index)
                for index, implementation in orjson.loads(named)
            ]
            if by_events and by_events[-1].at <= at:
                changes += [*by_events[:-1], by_events[-1]._replace(at=at)]
            else:
                changes.append(Change(block.number, at))
        return changes

    def _next_change(self, address: bytes, before: Change, after: Change) -> Change:
        """Return the first block with logs of a contract after `before` in which it has other
        implementations than there, and these; `after` where there is none before it."""
        low, at, past = before.number, before.at, after.number
        low += 1
        while low < past:
            middle = (low + past) // 2
            row = self._database.row(
                "events/log_block_find", address=address, first=middle, past=past
            )
            if row is None:
                past = middle
                continue
            number, block_hash = row
            other = self._implementations(address, Block(number, to_hex(bytes(block_hash))))
            if other is None:
                break
            if other == at:
                low = number + 1
            else:
                past, after = middle, Change(number, other)
        return after

    def _implementations(self, address: bytes, block: Block) -> set[bytes] | None:
        """Return a proxy's implementations at a block; None where the node does not say."""
        if self._gateway is None:
            return set()
        session = self._gateway.session("events", is_optional=False)
        try:
            proxy = self._abis.proxies_at([address], block, session).get(address)
        except (UpstreamFailed, Unavailable):
            return None
        return set() if proxy is None else {*proxy.implementations}

    def missing_blocks(self, address: bytes) -> int:
        """Return how many blocks older logs of a contract may be in."""
        fill = next((fill for fill in self.fills() if fill.address == address), None)
        return 0 if fill is None else fill.complete_from - fill.oldest

    def fills(self) -> list[Fill]:
        rows = self._database.rows("events/fills_list")
        return [Fill(bytes(address), *rest) for address, *rest in rows]

    def fill(self, fill: Fill) -> int | None:
        """Fill the logs of the newest blocks that lack them; return how many blocks were filled,
        None where that was not possible now."""
        rows = self._database.rows(
            "events/fill_list_blocks",
            address=fill.address,
            block_from=fill.step_from,
            before=fill.complete_from,
            most=STEP_BLOCKS,
        )
        blocks = {number: bytes(block_hash) for number, block_hash, _ in rows}
        emitters = {number: {*map(bytes, of_block)} for number, _, of_block in rows}
        are_logs_stored = block_rows.read_stored(self._database).stored == "all"
        lines: list[str] = []
        if are_logs_stored:  # those of many children may be in one block
            totals = accumulate(len(emitters[number]) for number in blocks)
            fitting = sum(total <= STEP_LOGS for total in totals)
            blocks = dict(islice(blocks.items(), max(1, fitting)))
        else:
            try:
                blocks, lines = self._read(emitters, blocks)
            except (*node_errors.NODE_FAILURES, CannotFollow) as error:
                text = error.for_operators if isinstance(error, ScanError) else str(error)
                problem = f"logs before block {fill.complete_from} are not filled: {text}"[:300]
                self._database.rows(
                    "events/fill_set_complete",
                    address=fill.address,
                    complete_from=fill.complete_from,
                    problem=problem,
                )
                return None
        with self._database.transaction() as tx:
            tx.execute("indexer/writes_lock")
            are_as_read = tx.value(
                "events/fill_blocks_match",
                address=fill.address,
                complete_from=fill.complete_from,
                numbers=[*blocks],
                hashes=[*blocks.values()],
            )
            if not are_as_read:
                return None
            places = [(number, of) for number in blocks for of in emitters[number]]
            of_step = {"numbers": [n for n, _ in places], "addresses": [of for _, of in places]}
            tx.execute("events/fill_remove", **of_step)
            if are_logs_stored:
                tx.execute("events/fill_from_logs", **of_step)
            transaction.copy_lines(tx, TABLE, COLUMNS, lines)
            is_whole = len(rows) < STEP_BLOCKS and len(blocks) == len(rows)
            complete_from = fill.step_from if is_whole else min(blocks)
            tx.execute(
                "events/fill_set_complete",
                address=fill.address,
                complete_from=complete_from,
                problem=None,
            )
            tx.execute("indexer/chain_notify")
        if complete_from == fill.oldest:  # its older logs may tell of further implementations
            self._upgraded.add(fill.address)
        self.decode()
        return len(blocks)

    def _read(
        self, emitters: Mapping[int, set[bytes]], blocks: Mapping[int, bytes]
    ) -> tuple[dict[int, bytes], list[str]]:
        """Return the first of the blocks, whose logs of emitters are read, and lines of COPY.
        Raises CannotFollow, and the node's failures, where none can be read."""
        read: dict[int, bytes] = {}
        lines: list[str] = []
        numbers = [*blocks]
        for start in range(0, len(numbers), STEP_BLOCKS_OF_NODE):
            chunk = numbers[start : start + STEP_BLOCKS_OF_NODE]
            stored: dict[int, list[ContractEvent]] = {}
            size = 0
            for number, block_hash, block in self._bodies.stored(chunk):
                if block_hash == blocks[number]:
                    logs = [] if block is None else [*_stored_logs(number, block, emitters[number])]
                    stored[number] = logs
                    size += sum(LOG_BYTES + len(log.data or b"") for log in logs)
                if size > self.step_bytes:
                    chunk = chunk[: chunk.index(number) + 1]
                    break
            for number in chunk:
                try:
                    of_block: Sequence[ContractEvent] = (
                        stored[number]
                        if number in stored
                        else self._of_node(emitters[number], number)
                    )
                except (*node_errors.NODE_FAILURES, CannotFollow):
                    if read:
                        return read, lines
                    raise
                read[number] = blocks[number]
                lines += map(transaction.line, of_block)
            if size > self.step_bytes or len(lines) >= STEP_LOGS or len(stored) < len(chunk):
                break
        return read, lines

    def _of_node(self, emitters: set[bytes], number: int) -> Sequence[ContractEvent]:
        """Return the logs of emitters in a block of the node's."""
        if self._source is None:
            raise CannotFollow(f"block {number} is not stored, and there is no node (RPC_URL)")
        [fetched] = self._source.blocks(number, number)
        return [*contract_events(fetched.block, emitters, are_stored=False)]


def _stored_logs(number: int, block: StoredBlock, emitters: set[bytes]) -> Iterator[ContractEvent]:
    for index, receipt in block.receipts_with([*emitters] if len(emitters) == 1 else ()):
        for emitter, topics, log_data, log_index in receipt.logs or ():
            if emitter in emitters:
                yield contract_event(number, index, log_index, emitter, topics, log_data)


def _put(tx: transaction.Transaction, address: bytes, changed: Sequence[EventTable]) -> None:
    """Store tables, and make their views. Raises SchemaMismatch where one cannot be made."""
    for start in range(0, len(changed), VIEWS_AT_ONCE):
        some = changed[start : start + VIEWS_AT_ONCE]
        tx.execute(
            "events/views_put",
            address=address,
            names=[table.view for table in some],
            events=[event_tables.storable(table.event) for table in some],
            columns=[orjson.dumps(table.view_columns).decode() for table in some],
            forms=[event_tables.view_forms(table) for table in some],
        )


def _queue(
    tx: transaction.Transaction,
    address: bytes,
    changed: Sequence[tuple[EventTable | None, EventTable]],
) -> None:
    """Have the logs decoded again that other forms of a contract's tables, before and after, may
    change. Those of the newest blocks follow once the indexer writes none by former forms."""
    topics = {form.topic0 for _, table in changed for form in table.forms}
    queued = {"address": address, "topics": None if None in topics else [*topics]}
    first = min(_first_difference(before.forms if before else (), t.forms) for before, t in changed)
    head, *_ = tx.row("indexer/blocks_get_head") or (-1,)
    tx.execute("events/logs_queue", block_from=first, block_to=head, **queued)
    tx.execute("indexer/writes_lock")
    first = max(first, head + 1)
    tx.execute("events/logs_queue", block_from=first, block_to=parameters.BIGINT_MAX, **queued)


def _first_difference(before: Sequence[EventForm], after: Sequence[EventForm]) -> int:
    """Return the first block in which other forms are in force."""

    def in_force(forms: Sequence[EventForm], block: int) -> list[EventForm]:
        ends = ((form, form.last_block) for form in forms if form.first_block <= block)
        return [
            f._replace(last_block=None, last_index=f.last_index if block == last else 0)
            for f, last in ends
            if last is None or block <= last
        ]

    forms = (*before, *after)
    blocks = {form.first_block for form in forms}
    blocks |= {form.last_block + 1 for form in forms if form.last_block is not None}
    return next(
        (block for block in sorted(blocks) if in_force(before, block) != in_force(after, block)),
        parameters.BIGINT_MAX,
    )
