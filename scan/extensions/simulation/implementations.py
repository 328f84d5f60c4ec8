"""The implementations that proxies have in a simulation, which may be others than the chain's.

A trace shows them: a proxy passes its input on by DELEGATECALL. Of a call alone, only overrides of
the proxies' slots say. Pure.
"""

from collections.abc import Mapping, Sequence

from scan.contracts.proxy_contracts import BY_STATE
from scan.extensions.internal_transfers.transaction_traces import TraceFrame
from scan.extensions.simulation.request import Overrides
from scan.hex import data

Implementations = Mapping[bytes, tuple[bytes, ...]]  # by proxy

_SLOTS = [kind.slot for kind in BY_STATE if kind.slot and not kind.code and not kind.is_beacon]


def in_trace(frames: Sequence[TraceFrame]) -> Implementations:
    """Return the contracts to which others passed their input on, by these."""
    by_place = {frame.trace_address: frame for frame in frames}
    targets: dict[bytes, dict[bytes, None]] = {}
    for frame in frames:
        if frame.type != "DELEGATECALL" or frame.to_address is None or not frame.trace_address:
            continue
        caller = by_place[frame.trace_address[:-1]]
        is_passed_on = (frame.input, frame.input_size) == (caller.input, caller.input_size)
        if is_passed_on and caller.to_address is not None:
            targets.setdefault(caller.to_address, {})[frame.to_address] = None
    return {proxy: tuple(own) for proxy, own in targets.items()}


def in_overrides(overrides: Overrides) -> Implementations:
    """Return the implementations in slots that are overridden."""
    targets = {}
    for address, account in overrides.items():
        slots = account.get("state") or account.get("stateDiff") or {}
        words = (data(slots[slot], 32) for slot in _SLOTS if slot in slots)
        first = next((word[12:] for word in words if any(word) and not any(word[:12])), None)
        if first is not None:
            targets[data(address, 20)] = (first,)
    return targets
