"""Summaries of transactions in one sentence, from the index and the node."""

from collections.abc import Mapping
from typing import Any

import orjson

from scan.contracts import event_state, transaction_summary
from scan.contracts.revert_reasons import CUSTOM, ERROR, UNKNOWN
from scan.contracts.summary_facts import Facts
from scan.contracts.summary_parts import Names
from scan.contracts.transaction_details import TransactionDetails
from scan.contracts.transaction_failures import TransactionFailure
from scan.contracts.transaction_summary import Summary
from scan.hex import data
from scan.queries import addresses, internal_transfers, network, transactions
from scan.queries.pages import Window
from scan.queries.reader import Reader

MAX_INTERNAL = 200  # internal transfers that are read


def summary(
    reader: Reader,
    record: Mapping[str, Any],
    details: TransactionDetails,
    failure: TransactionFailure | None,
) -> Summary:
    """Return a sentence about what the transaction did; `failure` is why it failed."""
    facts = _facts(reader, record, details)
    if failure is not None:
        error, is_quoted = _reason(failure)
        facts = facts._replace(error=error, is_error_quoted=is_quoted)
    event = transaction_summary.event_form(facts)
    if event is not None and "state" in event.form:
        contract, number = data(record["toAddress"], 20), record["blockNumber"]
        state = event.form["state"]
        changed = event_state.has_changed(reader.node, state, contract, event.words, number)
        facts = facts._replace(is_state_changed=bool(changed))
    keys = [data(address, 20) for address in facts.addresses()]
    return transaction_summary.summarise(
        facts, Names(addresses.parties(reader, keys), network.coin_symbol(reader))
    )


def _reason(failure: TransactionFailure) -> tuple[str | None, bool]:
    """Return the reason of a failure without a full stop, and whether it quotes the contract."""
    reason = failure.reason
    if reason.kind == ERROR and reason.decoded is not None:
        return str(reason.decoded.arguments[0].value) or None, True
    return (None, False) if reason.kind == UNKNOWN else (reason.phrase, reason.kind == CUSTOM)


def _facts(reader: Reader, record: Mapping[str, Any], details: TransactionDetails) -> Facts:
    """Collect the facts; a failed transaction moved nothing, and needs no further statements."""
    facts = Facts(record, details, (), 0, (), 0, None)
    if not record["status"]:
        return facts
    key = data(record["hash"], 32)
    internal, is_traced = internal_transfers.of_transaction(
        reader, key, Window(MAX_INTERNAL, 0, "asc")
    )
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


def _has_code(reader: Reader, record: Mapping[str, Any]) -> bool | None:
    """Return whether the sender's account had code after the block; None where the node does not
    answer."""
    address = data(record["fromAddress"], 20)
    state = reader.sources.account_states.at(
        reader.node, address, record["blockNumber"], data(record["blockHash"], 32)
    )
    if state is None:
        reader.do_not_cache()
        return None
    return state.has_code
