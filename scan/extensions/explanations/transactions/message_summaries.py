"""Sentences about transactions for messages of webhooks, as pages and the API have them.

They are made beside serving, in the process that delivers: few at once, each once for all events
and webhooks, in so much time for a message, and in a share of the process's time. What is not known
by then is left out.
"""

import logging
import time
from collections.abc import Callable, Mapping

import orjson

from scan.cached_values import SizedCache
from scan.concurrency.concurrency_limit import ConcurrencyLimit
from scan.errors import ScanError
from scan.extensions.decoding.details import NO_LOGS, details
from scan.extensions.explanations.transactions import queries
from scan.hex import data
from scan.http import hooks
from scan.http.services import Services
from scan.queries import transactions
from scan.queries.reader import Reader
from scan.webhooks.messages import Summary, SummaryPart

log = logging.getLogger(__name__)

MESSAGE_S = 3.0  # after which none is begun; the node has 6 for one, and a lease lasts 30
PLACES, PLACE_WAIT_S = 2, 0.5
# Of the process's time, so that who has many webhooks leaves it to others; one takes 7 ms.
SHARE, BURST_S = 0.25, 1.0
CACHE_BYTES = 2 * 1024 * 1024
ENTRY_BYTES = 400
CLIENT = "messages"  # as which the node is called


class MessageSummaries:
    def __init__(
        self,
        services: Callable[[], Services],
        *,
        message_s: float = MESSAGE_S,
        share: float = SHARE,
        burst_s: float = BURST_S,
    ) -> None:
        self._services, self._message_s, self._share = services, message_s, share
        self._places = ConcurrencyLimit(PLACES, busy="Other sentences are being made.")
        self._known: SizedCache[Summary] = SizedCache(CACHE_BYTES)
        self._burst_s = burst_s
        self._left_s, self._left_at = burst_s, time.monotonic()  # in which sentences are made

    def read(self, blocks: Mapping[str, int]) -> dict[str, Summary]:
        """Return the sentences about transactions, given by their hashes with the numbers of their
        blocks: of those that succeeded, are in these blocks now, and are described in time."""
        began_at = time.monotonic()
        sentences: dict[str, Summary] = {}
        for transaction_hash, number in blocks.items():
            passed_s = time.monotonic() - began_at
            if passed_s > self._message_s:
                break
            try:
                with self._places.place(wait_s=max(PLACE_WAIT_S - passed_s, 0.0)):
                    sentence = self._sentence(transaction_hash, number)
            except Exception as error:  # the message is sent without the sentence
                expected = isinstance(error, ScanError)
                log.log(
                    logging.DEBUG if expected else logging.ERROR,
                    "no sentence about transaction %s: %s",
                    transaction_hash,
                    error,
                    exc_info=not expected,
                )
                continue
            if sentence is not None:
                sentences[transaction_hash] = sentence
        return sentences

    def _sentence(self, transaction_hash: str, number: int) -> Summary | None:
        """Return a sentence, None where there is none. Raises ScanError."""
        reader = Reader(self._services().sources, CLIENT)
        try:
            text = transactions.get(reader, data(transaction_hash, 32))
            record = text and orjson.loads(text)
            if not record or record["blockNumber"] != number or not record["status"]:
                return None
            key = transaction_hash, record["blockHash"]
            sentence = self._known.get(key)
            if sentence is None and (began_at := self._begin()) is not None:
                try:
                    of_node = details(reader, record, NO_LOGS)
                    parts = queries.transaction_sentence(reader, record, of_node, None).parts
                    sentence = [SummaryPart(p.text, p.type, p.address) for p in parts]
                finally:
                    self._left_s -= time.monotonic() - began_at
                if reader.depends_on_index_alone:
                    self._known.store(key, sentence, ENTRY_BYTES * (1 + len(sentence)))
            return sentence
        finally:
            if reader.until_end is not None:
                reader.until_end.close()

    def _begin(self) -> float | None:
        """Return the time at which another sentence may be begun; None where that is not now."""
        now = time.monotonic()
        self._left_s = min(self._left_s + (now - self._left_at) * self._share, self._burst_s)
        self._left_at = now
        return now if self._left_s > 0 else None


HOOKS = hooks.Summaries(make=lambda services: MessageSummaries(services).read)
