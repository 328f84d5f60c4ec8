"""The outcomes of simulated calls, decoded by the implementations that proxies have in the
simulation, which may be others than the chain's. Pure.

A trace shows them: a proxy passes its input on by DELEGATECALL. Of a call alone, only overrides of
slots that proxies read say.
"""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

from scan.concurrency.turns import Postponed, QueuedPlaces, thread
from scan.contracts.proxy_contracts import IN_CODE, Words
from scan.ethereum.served_chain import BlockId
from scan.extensions.decoding.contract_abis import Block, ContractAbis
from scan.extensions.decoding.details import MAX_CONTRACTS, MAX_SMALL_GAS
from scan.extensions.explanations.storage import mapping_keys, queries
from scan.extensions.explanations.transactions import failure_locations, trace_decoding
from scan.extensions.explanations.transactions.failing_steps import MAX_GAS
from scan.extensions.explanations.transactions.state_changes import named_changes
from scan.extensions.simulation.request import ANONYMOUS_GAS, Overrides, SimulatedCall
from scan.extensions.simulation.simulated_calls import Outcome, Simulator, failing_steps
from scan.extensions.simulation.simulated_calls import hashed_values as values_hashed
from scan.extensions.simulation.transfers import SIMULATED_COIN, Movements, kept_logs, movements
from scan.extensions.traces.transaction_traces import implementations_in
from scan.hex import data, to_hex
from scan.queries import addresses, blocks
from scan.queries.reader import Reader

Implementations = Mapping[bytes, tuple[bytes, ...]]  # by proxy


def in_overrides(overrides: Overrides) -> dict[bytes, Words]:
    """Return the words of overridden slots, of accounts."""
    words: dict[bytes, Words] = {}
    for address, account in overrides.items():
        stored = (account.get("state") or account.get("stateDiff") or {}).items()
        words[data(address, 20)] = {data(slot, 32): data(word, 32) for slot, word in stored}
    return words


MAX_TOKENS = 200  # whose symbols are read


class Simulations(QueuedPlaces):
    """The place of all simulations together: a node goes on with a call that nobody waits for."""

    def __init__(self) -> None:
        super().__init__(
            places=1,
            places_per_client=1,
            busy="Other calls are being simulated; try again shortly.",
        )

    @contextmanager
    def place_of(self, client: Hashable) -> Iterator[None]:
        """Hold the place as place_in_turn() does, but leave it to others while the request waits
        for one at the node."""
        with self.place_in_turn(client):
            try:
                yield
            except Postponed:
                if thread.request is not None:
                    thread.request.give_back(self)
                raise


class Simulated(NamedTuple):
    """The outcome of a call; the first of its frames is its own."""

    outcome: Outcome
    frames: Sequence[trace_decoding.DecodedFrame]
    movements: Movements
    location: failure_locations.Location | None
    assumed: Sequence[bytes]  # proxies that may have other implementations than they are decoded by
    gas_limit: int

    @property
    def missing(self) -> list[str]:
        """The fields that the node gives no values of, or of `frames` the calls inside."""
        frame = self.frames[0]
        absent = {
            "frames": not self.outcome.is_traced,
            "accounts": self.outcome.changes is None and frame.reason is None,
            "gasUsed": frame.frame.gas_used is None,
            "logs": not self.outcome.is_traced and frame.frame.gas_used is None,
        }
        absent["transfers"] = absent["approvals"] = absent["logs"]
        return [name for name, is_absent in absent.items() if is_absent]

    def record(self, *, has_frames: bool = True, is_cut: bool = False) -> dict[str, Any]:
        """Return the record, with the calls inside if it `has_frames`; `is_cut`: they were asked
        for, but are too large."""
        own, changes = self.frames[0].record(), self.outcome.changes
        trace, missing = self.outcome.trace, self.missing
        location = None if self.location is None else self.location.record()
        return {
            "status": own["error"] is None,
            "gasUsed": own["gasUsed"],
            "gasLimit": str(self.gas_limit),
            "error": own["error"] and {**own["error"], "location": location},
            "result": own["result"],
            "output": own["output"],
            "logs": None if "logs" in missing else self._logs(),
            "transfers": None if "transfers" in missing else self.movements.transfers,
            "approvals": None if "approvals" in missing else self.movements.approvals,
            "frames": [frame.record() for frame in self.frames[: None if has_frames else 1]],
            "accounts": None if changes is None else [a.record() for a in changes.accounts],
            "truncated": is_cut
            or trace.is_truncated
            or self.movements.is_truncated
            or (changes is not None and changes.is_truncated),
            "missing": missing,
            "assumedProxies": [*map(to_hex, self.assumed)],
        }

    def _logs(self) -> list[dict[str, Any]]:
        """Return the logs of calls that were not undone."""
        kept = (frame for frame in self.frames if not frame.frame.is_undone)
        logs = (log for frame in kept for log in frame.logs or ())
        simulated = (SIMULATED_COIN,) if not self.outcome.is_traced else ()
        return [
            trace_decoding.log_record(log, event)
            for log, event in logs
            if log.address not in simulated
        ]


def anonymous_gas(reader: Reader) -> int:
    """Return the most gas of a call without an API key: half of what the newest block may use, as
    much as ordinary ones do."""
    newest = json.loads(blocks.get(reader, None) or "{}")
    return min(ANONYMOUS_GAS, int(newest.get("gasLimit", 2 * ANONYMOUS_GAS)) // 2)


def simulate(
    reader: Reader, block: BlockId | None, calls: Sequence[SimulatedCall], overrides: Overrides
) -> tuple[BlockId, list[Simulated]]:
    """Simulate calls after a block, by default the newest indexed one, in the order given.

    Raises NotFound before the first block is indexed, HistoryUnavailable, TracesUnavailable,
    UpstreamFailed, Unavailable.
    """
    reader.do_not_cache()
    block = blocks.or_newest(reader, block)
    with reader.sources.get(Simulations).place_of(reader.client):
        outcomes = reader.sources.get(Simulator).simulate(
            reader.node, block, calls, overrides, traces=reader.sources.traces != "off"
        )
    if sum(outcome.trace.frames[0].gas_used or 0 for outcome in outcomes) > MAX_SMALL_GAS:
        reader.hold_processor()  # as for a transaction
    tokens = _tokens(reader, outcomes)
    at, abis = Block(block.number, to_hex(block.hash)), reader.sources.get(ContractAbis)
    simulated: list[Simulated] = []
    proxies = [_proxies(reader, outcome, at) for outcome in outcomes]
    for call, outcome, proxy in zip(calls, outcomes, proxies, strict=True):
        # The first call without overrides meets the chain's own state, so nothing is assumed.
        is_assuming = bool(simulated or overrides)
        frames = trace_decoding.decode_trace(outcome.trace, at, abis, reader.node, proxy.simulated)
        cause = outcome.trace.failure.trace_address if outcome.trace.failure else ()
        locations = _locations(reader, block, call, outcome, frames, cause)
        simulated.append(
            Simulated(
                _with_names(reader, block, call, outcome, proxy.simulated),
                [f._replace(location=locations.get(f.frame.trace_address)) for f in frames],
                movements(outcome.trace.frames, tokens, is_traced=outcome.is_traced),
                failure_locations.innermost(locations, cause),
                proxy.assumed if is_assuming else (),
                call.gas,
            )
        )
    return block, simulated


class _Proxies(NamedTuple):
    """The implementations of called proxies: in the simulation, of those of which it shows them,
    and on the chain, of those whose state has them."""

    simulated: Implementations
    on_chain: Implementations

    @property
    def assumed(self) -> list[bytes]:
        """The proxies of which the chain alone says what their implementations are."""
        return [proxy for proxy in self.on_chain if proxy not in self.simulated]


def _proxies(reader: Reader, outcome: Outcome, block: Block) -> _Proxies:
    frames = outcome.trace.frames
    called = dict.fromkeys(frame.to_address for frame in frames if frame.to_address is not None)

    def by_state(addresses: Sequence[bytes], overridden: Mapping[bytes, Words]) -> Implementations:
        proxies = queries.proxies_at(reader, addresses, block, overridden)
        return {a: p.implementations for a, p in proxies.items() if p.kind not in IN_CODE}

    on_chain = by_state([*called][:MAX_CONTRACTS], {})
    if outcome.is_traced:
        return _Proxies(implementations_in(frames), on_chain)
    overridden = in_overrides(outcome.overrides)
    return _Proxies(by_state([*overridden], overridden), on_chain)


def _locations(
    reader: Reader,
    block: BlockId,
    call: SimulatedCall,
    outcome: Outcome,
    frames: Sequence[trace_decoding.DecodedFrame],
    cause: failure_locations.CallPath,
) -> Mapping[failure_locations.CallPath, failure_locations.Location]:
    """Return the lines of the calls that would fail."""
    failed = failure_locations.failed_calls(outcome.trace.frames)
    gas_used = frames[0].frame.gas_used or 0
    if not outcome.is_traced or gas_used > MAX_GAS:
        return {}
    steps = partial(failing_steps, reader.node, block, call, outcome.overrides, gas_used)
    return failure_locations.of_steps(
        reader.sources, failed, cause, steps, block.number, outcome.replaced
    )


def _with_names(
    reader: Reader,
    block: BlockId,
    call: SimulatedCall,
    outcome: Outcome,
    implementations: Implementations,
) -> Outcome:
    """Return an outcome with the names of the variables that it changes."""
    if outcome.changes is None:
        return outcome

    def hashed() -> mapping_keys.HashedValues:
        if (outcome.trace.frames[0].gas_used or 0) > mapping_keys.MAX_GAS:
            return ()
        return values_hashed(reader.node, block, call, outcome.overrides)

    at = Block(block.number, to_hex(block.hash))
    calls = outcome.trace.frames
    changes = named_changes(
        reader, outcome.changes, at, lambda: calls, hashed, outcome.replaced, implementations
    )
    return outcome._replace(changes=changes)


def _tokens(reader: Reader, outcomes: Sequence[Outcome]) -> dict[str, Any]:
    traces = [outcome.trace.frames for outcome in outcomes]
    emitters = sorted({log.address for frames in traces for log in kept_logs(frames)})
    names = json.loads(addresses.names(reader, emitters[:MAX_TOKENS])) if emitters else {}
    return {address: name["token"] for address, name in names.items() if name["token"]}


def addresses_in(simulated: Sequence[Simulated]) -> Iterator[str]:
    """Yield the addresses of what a page shows of outcomes."""
    for one in simulated:
        for record in (*one.movements.transfers, *one.movements.approvals):
            fields = record.items()
            yield from (value for name, value in fields if name.endswith("Address") and value)
        for frame in one.frames:
            yield to_hex(frame.frame.from_address)
            if frame.frame.to_address is not None:
                yield to_hex(frame.frame.to_address)
        if one.outcome.changes is not None:
            yield from (to_hex(account.address) for account in one.outcome.changes.accounts)
