"""The sentence about a transaction and why it failed, in its record and on its page."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from scan.errors import TracesUnavailable, Unavailable, UpstreamFailed
from scan.ethereum.request_node import NodeSession
from scan.ethereum.transaction_reader import IndexedTransaction
from scan.extensions.decoding.details import (
    Code,
    Content,
    RanCode,
    TracedCode,
    TransactionDetails,
    content_of,
)
from scan.extensions.decoding.hooks import Explanation
from scan.extensions.explanations.transactions import queries
from scan.extensions.traces.transaction_traces import TransactionTraces, codes_in, passed_on_to
from scan.hex import to_hex
from scan.http.current_request import reader
from scan.pages.hooks import Shown
from scan.pages.records import Record, addresses_in
from scan.queries.reader import Reader

# Of a sentence: what hashes prove.
PROVEN_PARTS = {None, "coin", "address"}


def fields(record: Mapping[str, Any], details: TransactionDetails) -> dict[str, Any]:
    """Return why a transaction failed, which nothing proves, and the sentence about it, which has
    names and decimals of tokens and what else nothing proves."""
    failure = queries.located_failure(reader(), record)
    sentence = queries.transaction_sentence(reader(), record, details, failure)
    types = {part.type for part in sentence.parts}
    is_proven = types <= PROVEN_PARTS and not (failure or details.unproven)
    return {
        "unproven": [*(["error"] if failure else []), *([] if is_proven else ["summary"])],
        "error": None if failure is None else failure.record(),
        "summary": sentence.record(),
    }


def head(transaction: Record, details: TransactionDetails) -> Shown:
    """Return the sentence above a transaction, and why it failed."""
    failure = queries.located_failure(reader(), transaction)
    summary = queries.transaction_sentence(reader(), transaction, details, failure)
    addresses: list[str] = []
    if failure is not None:
        addresses = [*addresses_in(failure.reason.decoded), *map(to_hex, failure.code_addresses())]
    values = {
        "sentence": summary.parts,
        "failure": failure,
        "is_told": failure is not None and queries.tells_reason(failure),
        "console": queries.console_output(reader(), transaction) if failure else None,
    }
    return Shown(values, addresses)


class CodeInTraces(TracedCode):
    def of(self, reader: Reader, node: NodeSession, sent: IndexedTransaction) -> RanCode | None:
        try:
            frames = reader.sources.get(TransactionTraces).calls(node, sent).frames
        except (TracesUnavailable, UpstreamFailed, Unavailable):
            if reader.has_node_failed:
                reader.do_not_cache()
            return None
        codes = codes_in(frames)
        emitting: defaultdict[Content, dict[Code, None]] = defaultdict(dict)
        for frame in frames:
            for log in () if frame.is_undone else frame.logs or ():
                emitting[content_of(log)][codes[frame.trace_address]] = None
        ran = dict.fromkeys(frame.to_address for frame in frames if frame.to_address)
        return RanCode(passed_on_to(frames), emitting, ran)


HOOKS = Explanation(fields=fields, head=head)
