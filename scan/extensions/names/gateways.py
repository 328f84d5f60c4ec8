"""What other hosts keep for contracts (EIP-3668): a contract reverts with their URLs, and is called
again with what one of them answers, which it checks by itself.

Whoever makes a resolver names the URLs: they pass the guard of scan/outbound, so that no private
address is reached, and few are asked, for a short time. Their answers are hostile.
"""

import json
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

from scan.contracts.abi import AbiError, AbiType, decode, encode, parse_types
from scan.hex import BadHex, data, to_hex
from scan.outbound.allowed_urls import MAX_URL_CHARACTERS
from scan.outbound.http_client import HttpClient, NotFetched
from scan.setting_kinds import Network

TOTAL_S = 2.0  # of one request, for all its names and what is nested
CONNECT_S = 1.0
ALLOWED: Sequence[Network] = ()  # besides public networks
MAX_NESTED = 4
MAX_URLS = 3  # that are tried, of one lookup
MAX_BATCHED = 4
MAX_ANSWER_BYTES = 256 * 1024
MAX_VALUES = 200

OFFCHAIN_LOOKUP = bytes.fromhex("556f1830")
# A batch of lookups that the client makes by itself (ENSIP-21).
BATCH_URL = "x-batch-gateway:true"
QUERY = bytes.fromhex("a780bab6")  # query((address,string[],bytes)[])
_HTTP_ERROR = bytes.fromhex("01800152")  # HttpError(uint16,string)

_LOOKUP = parse_types(
    [{"type": kind} for kind in ("address", "string[]", "bytes", "bytes4", "bytes")]
)
_REQUEST = [{"type": kind} for kind in ("address", "string[]", "bytes")]
_QUERY = parse_types([{"type": "tuple[]", "components": _REQUEST}])
_RESULTS = parse_types([{"type": "bool[]"}, {"type": "bytes[]"}])
_CALLBACK = parse_types([{"type": "bytes"}, {"type": "bytes"}])
_ERROR = parse_types([{"type": "uint16"}, {"type": "string"}])


class NoAnswer(Exception):
    """No gateway gave an answer that can be used. The message has nothing that one of them sent;
    `status` is that of its response, where it refused."""

    def __init__(self, reason: str, status: int | None = None) -> None:
        super().__init__(reason)
        self.status = status


class Lookup(NamedTuple):
    """What a contract asks gateways: OffchainLookup of EIP-3668."""

    sender: bytes
    urls: Sequence[bytes]
    call_data: bytes
    callback: bytes
    extra_data: bytes

    @classmethod
    def of_revert(cls, returned: bytes, contract: bytes) -> "Lookup":
        """Return the lookup that a call of a contract reverted with. Raises NoAnswer where it is
        malformed, or another contract's."""
        try:
            lookup = cls(*_decoded(_LOOKUP, returned[4:]))
        except AbiError:
            raise NoAnswer("the lookup is malformed") from None
        if lookup.sender != contract:
            raise NoAnswer("the lookup is that of another contract")
        return lookup

    def callback_data(self, answer: bytes) -> bytes:
        """Return the calldata with which the contract is called again."""
        return self.callback + encode(_CALLBACK, (answer, self.extra_data))


class Gateways:
    """Asks the hosts that contracts name."""

    def __init__(self, fetcher: HttpClient, allowed: Sequence[Network]) -> None:
        """`allowed` are networks besides public ones."""
        self._fetcher = fetcher
        self._allowed = allowed

    def answer(self, lookup: Lookup, ends_at: float) -> bytes:
        """Return what a gateway answers until `ends_at` (time.monotonic()). Raises NoAnswer."""
        if BATCH_URL.encode() in lookup.urls:
            return self._batch(lookup.call_data, ends_at)
        return self._first(lookup.sender, lookup.urls, lookup.call_data, ends_at)

    def _batch(self, call_data: bytes, ends_at: float) -> bytes:
        """Return the answers of a batch, encoded, with errors in place of those that failed."""
        try:
            [requests] = _decoded(_QUERY, call_data.removeprefix(QUERY))
        except AbiError:
            raise NoAnswer("the batch is malformed") from None
        if not call_data.startswith(QUERY) or len(requests) > MAX_BATCHED:
            raise NoAnswer("the batch is none, or too large")
        failures, answers = [], []
        for sender, urls, data_ in requests:
            try:
                answers.append(self._first(sender, urls, data_, ends_at))
                failures.append(False)
            except NoAnswer as error:
                words = (error.status or 500, str(error).encode())
                answers.append(_HTTP_ERROR + encode(_ERROR, words))
                failures.append(True)
        return encode(_RESULTS, (failures, answers))

    def _first(
        self, sender: bytes, urls: Sequence[bytes], call_data: bytes, ends_at: float
    ) -> bytes:
        """Return the first answer. One that refuses by a status of 4xx is the last that is asked,
        as EIP-3668 has it."""
        for url in urls[:MAX_URLS]:
            try:
                return self._ask(url.decode("ascii"), sender, call_data, ends_at)
            except NotFetched as error:
                if error.status is not None and 400 <= error.status < 500:
                    raise NoAnswer("a gateway refused", error.status) from None
            except ValueError:  # not ASCII, or no JSON
                continue
        raise NoAnswer("no gateway answered")

    def _ask(self, url: str, sender: bytes, call_data: bytes, ends_at: float) -> bytes:
        """Return what one gateway answers. Raises NotFetched, ValueError."""
        left_s = ends_at - time.monotonic()
        if left_s <= 0:
            raise NotFetched("There is no time left.")
        fields = {"data": to_hex(call_data), "sender": to_hex(sender)}
        posted = None if "{data}" in url else json.dumps(fields).encode()
        added = sum(url.count(f"{{{name}}}") * len(value) for name, value in fields.items())
        if len(url) + added > MAX_URL_CHARACTERS:  # that may be gigabytes
            raise NotFetched("The URL is too long.")
        for name, value in fields.items():
            url = url.replace(f"{{{name}}}", value)
        most = 2 * MAX_ANSWER_BYTES + 1024  # in hex, and JSON around it
        text = self._fetcher.get(url, most, self._allowed, posted=posted, most_s=left_s)
        try:
            return data(json.loads(text)["data"])
        except (KeyError, TypeError, RecursionError, BadHex):
            raise ValueError("it has no data") from None


def _decoded(types: Sequence[AbiType], encoded: bytes) -> tuple[Any, ...]:
    return decode(types, encoded, most_values=MAX_VALUES, most_bytes=2 * MAX_ANSWER_BYTES)
