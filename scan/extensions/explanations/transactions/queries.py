"""What the index and the node tell of a transaction beyond its details: its sentence, why it
failed, its calls and its changes of the state.
"""

import re
from collections.abc import Mapping
from typing import Any

import orjson

from scan.contracts.revert_reasons import CUSTOM, ERROR, UNKNOWN
from scan.errors import UpstreamFailed
from scan.ethereum.served_chain import BlockId
from scan.extensions.decoding.contract_abis import ContractAbis, block_of
from scan.extensions.decoding.details import TransactionDetails, bound_work
from scan.extensions.explanations.storage import mapping_keys
from scan.extensions.explanations.transactions import (
    console_logs,
    failure_locations,
    transaction_summary,
)
from scan.extensions.explanations.transactions import state_changes as event_state
from scan.extensions.explanations.transactions.failing_steps import MAX_GAS
from scan.extensions.explanations.transactions.summary_facts import Facts
from scan.extensions.explanations.transactions.summary_parts import Names
from scan.extensions.explanations.transactions.trace_decoding import DecodedFrame, decode_trace
from scan.extensions.explanations.transactions.transaction_failures import (
    TransactionFailure,
    TransactionFailures,
    trace_now,
)
from scan.extensions.traces import views as internal_transfers
from scan.extensions.traces.transaction_traces import MALFORMED, TransactionTrace, TransactionTraces
from scan.hex import data
from scan.queries import addresses, blocks, network, transactions
from scan.queries.list_pages import Window
from scan.queries.reader import Reader

_FILE_NAME = re.compile(r"[\w.-]{1,60}", re.ASCII)  # the source's author chooses it
MAX_INTERNAL = 200  # internal transfers that are read


def transaction_sentence(
    reader: Reader,
    record: Mapping[str, Any],
    details: TransactionDetails,
    failure: TransactionFailure | None,
) -> transaction_summary.Summary:
    """Return a sentence about what the transaction did; `failure` is why it failed."""
    facts = _facts(reader, record, details)
    if failure is not None:
        error, is_quoted = _reason(failure)
        failed_at = _line(failure)
        facts = facts._replace(error=error, is_error_quoted=is_quoted, failed_at=failed_at)
    event = transaction_summary.event_form(facts)
    if event is not None and "state" in event.form:
        contract, block, state = data(record["toAddress"], 20), _block(record), event.form["state"]
        before = BlockId.of(block.number - 1, blocks.hash_at(reader, block.number - 1))
        changed = before and event_state.has_changed(
            reader.node, state, contract, event.words, (before, block)
        )
        if changed is None:
            reader.do_not_cache()
        facts = facts._replace(is_state_changed=bool(changed))
    keys = [data(address, 20) for address in facts.addresses()]
    names = Names(addresses.parties(reader, keys), network.coin_symbol(reader))
    return transaction_summary.summarise(facts, names)


def failure(reader: Reader, record: Mapping[str, Any]) -> TransactionFailure | None:
    """Return why a transaction failed, None if it succeeded; the response is not cached where a
    retry may get more."""
    if record["status"]:
        return None
    failure = reader.sources.get(TransactionFailures).read(reader, record)
    if failure.is_passing:
        reader.do_not_cache()
    return failure


def located_failure(reader: Reader, record: Mapping[str, Any]) -> TransactionFailure | None:
    """Return why a transaction failed, as failure() does, with the line of the source.

    That of the call that failed by itself, or where it ended outside of all functions, as where the
    contract has no such function, of the innermost call around it that ended in one.
    """
    unlocated = failure(reader, record)
    if unlocated is None or unlocated.failure is None or unlocated.is_approximate:
        return unlocated
    path = unlocated.failure.trace_address
    trace = (
        None if int(record["gasUsed"]) > MAX_GAS else trace_now(reader.sources, reader.node, record)
    )
    if trace is None:
        if reader.has_node_failed:
            reader.do_not_cache()
        return unlocated
    calls = failure_locations.failed_calls(trace.frames)
    around = {at: call for at, call in calls.items() if failure_locations.is_around(at, path)}
    locations = _locations(reader, record, around, path)
    return unlocated._replace(location=failure_locations.innermost(locations, path))


def _locations(
    reader: Reader,
    record: Mapping[str, Any],
    calls: Mapping[failure_locations.CallPath, failure_locations.FailedCall],
    cause: failure_locations.CallPath,
) -> Mapping[failure_locations.CallPath, failure_locations.Location]:
    """Return the lines of those calls that failed."""
    if int(record["gasUsed"]) > MAX_GAS:
        return {}
    locations = failure_locations.read(reader, transactions.indexed(record), calls, cause)
    if reader.has_node_failed:
        reader.do_not_cache()
    return locations


def console_output(reader: Reader, record: Mapping[str, Any]) -> console_logs.Printed:
    """Return what a transaction's calls of console.log say; nothing where the node is none for
    development, whose contracts have such calls, or has no trace now."""
    if not reader.is_development:
        return console_logs.Printed()
    trace = trace_now(reader.sources, reader.node, record)
    return console_logs.Printed() if trace is None else console_logs.printed(trace)


def calls(reader: Reader, record: Mapping[str, Any]) -> tuple[TransactionTrace, list[DecodedFrame]]:
    """Return a transaction's calls, plain and decoded; raises TracesUnavailable, UpstreamFailed."""
    bound_work(reader, record)
    sent = transactions.indexed(record)
    trace = reader.sources.get(TransactionTraces).calls(reader.node, sent)
    has_failed = trace.frames[0].failure is not None
    if has_failed == record["status"] and "status" not in record["unproven"]:
        raise UpstreamFailed(MALFORMED)
    # Nodes differ in what the outermost call has; geth has the transaction's.
    own, *others = trace.frames
    gas = own.gas if record["gasLimit"] is None else int(record["gasLimit"])
    own = own._replace(gas=gas, gas_used=int(record["gasUsed"]))
    trace = trace._replace(frames=[own, *others])
    frames = decode_trace(trace, block_of(record), reader.sources.get(ContractAbis), reader.node)
    cause = trace.failure.trace_address if trace.failure else ()
    locations = _locations(reader, record, failure_locations.failed_calls(trace.frames), cause)
    return trace, [f._replace(location=locations.get(f.frame.trace_address)) for f in frames]


def state_changes(reader: Reader, record: Mapping[str, Any]) -> event_state.StateChanges:
    """Return the changes of state that a transaction made; raises the errors of calls()."""
    bound_work(reader, record)
    sent, traces = transactions.indexed(record), reader.sources.get(TransactionTraces)
    changes: event_state.StateChanges = traces.read(reader.node, sent, event_state.STATE_CHANGES)
    gas_used = int(record["gasUsed"])
    return event_state.named_changes(
        reader,
        changes,
        block_of(record),
        lambda: traces.calls(reader.node, sent).frames,
        lambda: mapping_keys.read(traces, reader.node, sent, gas_used),
    )


def _reason(failure: TransactionFailure) -> tuple[str | None, bool]:
    """Return the reason of a failure without a full stop, and whether it quotes the contract. Of a
    declared error it is the name, which is an identifier, with those of errors that it passes on;
    its arguments are in the record, and on the page."""
    reason = failure.reason
    if reason.kind == ERROR and reason.decoded is not None:
        return str(reason.decoded.arguments[0].value) or None, True
    if reason.kind != CUSTOM or reason.decoded is None:
        return (None, False) if reason.kind == UNKNOWN else (reason.phrase, False)
    names, error = [reason.decoded.name], reason.decoded
    while inner := next((e for a in error.arguments for _, e in a.errors), None):
        if inner.name in ("Error", "Panic"):  # whose arguments say more
            break
        names.append(inner.name)
        error = inner
    return (": ".join(names), False) if all(map(str.isidentifier, names)) else (reason.phrase, True)


def tells_reason(failure: TransactionFailure) -> bool:
    """Return whether the sentence has a failure's whole reason, but for an error's arguments."""
    error, _ = _reason(failure)
    return error is not None and len(error) <= transaction_summary.MAX_REASON


def _line(failure: TransactionFailure) -> str:
    """Return the file and the line where it failed, "" where they are not known, or the file has
    another name than files of sources usually have."""
    location = failure.location
    if location is None or not location.is_exact:
        return ""
    name = location.file.path.rpartition("/")[2]
    return f"{name}:{location.line.line}" if _FILE_NAME.fullmatch(name) else ""


def _facts(reader: Reader, record: Mapping[str, Any], details: TransactionDetails) -> Facts:
    """Collect the facts; a failed transaction moved nothing, and needs no further statements."""
    facts = Facts(record, details)
    if not record["status"]:
        return facts
    key = data(record["hash"], 32)
    window = Window(MAX_INTERNAL, 0, "asc")
    internal, is_traced = internal_transfers.transaction_page(reader, key, window)
    count = internal.total or 0
    facts = facts._replace(internal_count=count)
    if is_traced and count <= MAX_INTERNAL:
        facts = facts._replace(internal=orjson.loads(internal.data or "[]"))
    elif facts.is_to_itself:
        facts = facts._replace(has_code=_has_code(reader, record))
    if details.log_count == 0:
        return facts
    stored = transactions.events(reader, key)
    return facts._replace(
        transfers=orjson.loads(stored.transfers or "[]"),
        transfer_count=stored.transfer_count,
        trades=orjson.loads(stored.trades or "[]"),
        trade_count=stored.trade_count,
    )


def _block(record: Mapping[str, Any]) -> BlockId:
    return BlockId(record["blockNumber"], data(record["blockHash"], 32))


def _has_code(reader: Reader, record: Mapping[str, Any]) -> bool | None:
    """Return whether the sender's account had code after the block; None where the node does not
    answer."""
    address = data(record["fromAddress"], 20)
    states = reader.sources.account_states.all_at(reader.node, [address], _block(record))
    if address not in states:
        reader.do_not_cache()
        return None
    return states[address].has_code
