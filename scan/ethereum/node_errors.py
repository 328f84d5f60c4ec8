"""Errors of nodes: what their codes and words mean, how long to wait after one, and when to give
up: one policy for the head, for a whole chain in bulk, and for fills.

Errors are of three classes. A transient one passes by itself: no connection, HTTP 5xx, an answer
that is cut short, a database that restarts. A refusal by a node's rate limit passes after the time
that the node states. A permanent one remains until somebody changes the node or a setting: blocks
that the node has pruned, a block that is malformed in every read, or another chain.

Who finds a failure raises it, the node rests, and another node or the next step asks again. From
the node to the commit these ask again, each for failures of its own:

- Node, where there is no answer, HTTP 5xx, 429 or another chain: the next node at once; the failed
  one rests for ten seconds or its Retry-After. Nothing is to be seen while another node answers.
- Node, where a batch is refused or its answer too large: with half of the calls.
- settled() of scan/indexer, where an answer is malformed, contradicts its hash, is not proven or is
  an error for state: each other node, or the same one READS times, as a whole batch of blocks would
  be read again otherwise. What no hash proves in the end is named in `unproven`.
- FetchLimit, where a rate limit refuses one of several requests in flight: with half as many. So
  the limit is learnt, for PATIENCE_S without a word.
- The next step, by Retries, all of these where they last, and blocks that do not link: after 0.1 to
  2 seconds, or 60 where somebody has to change something. /readyz has the reason, the log once a
  minute. For a chain in bulk a range is read again in this way, while its patience lasts.

ForkBackoff asks nothing again: it says how long a fork is kept when a node goes back and forth.

Nodes agree on the data that a contract returns as it reverts, and on little else: each has its own
words for the failures of the EVM itself.
"""

import math
import random
import re
import time
from collections.abc import Callable
from typing import NamedTuple, ParamSpec, TypeVar

from scan.errors import ScanError
from scan.ethereum.blocks import MalformedBlock

METHOD_NOT_FOUND = -32601
RESOURCE_NOT_FOUND = -32001  # EIP-1474
PRUNED_HISTORY = 4444  # execution-apis 636
_REFUSAL_CODES = (3, -32015)
_RATE_LIMIT_CODES = (429, -32005, -32097)
_RATE_LIMIT_WORDS = re.compile(r"rate.?limit|too many requests|limit exceeded|capacity", re.I)
_MISSING_METHOD_WORDS = re.compile(
    r"method .{0,80}(not found|does not exist|not (supported|available))|unsupported method", re.I
)
_MISSING_BLOCK_WORDS = re.compile(
    r"(header|block) .{0,90}not found|header not found|unknown (block|header)|resource not found"
    r"|could not find (block|header)|cannot find (block|header)|out ?of ?range",
    re.I,
)
# How messages begin where the EVM ended the call, in the words of clients; text of the contract may
# follow. "execution aborted" is a time-out of Geth's; "EVM error; database error" and "EVM error:
# operation timed out" are Anvil's of the node that it forks.
_REFUSAL_WORDS = re.compile(
    r"(?:[\w= ]{1,40}[:=] ?){0,3}(?:"
    r"revert|(?:(?:vm|message) )?execution (?:revert|error|failed)|vm exception"
    r"|transaction (?:revert|ran out of gas|processing could not be completed due to an exception)"
    r"|evm error[:;]? (?!database)(?!(?!revert)[\w ,:]{0,60}(?:time(?:d )?-?out|unavail|connect))\w"
    r"|(?:contract creation code storage )?out ?of ?gas"
    r"|out of memory: memory limit|gas (?:required exceeds|uint64 overflow)"
    r"|(?:invalid|unknown|undefined|bad) ?(?:op ?code|instruction|jump)|opcode ?not ?found"
    r"|stack ?(?:under|over)flow|stack limit reached|out ?of ?stack|write protection"
    r"|static ?(?:call|context|state)|return data out of bounds|access ?violation"
    r"|insufficient (?:(?:sender )?(?:balance|funds)|gas for floor)|upfront cost exceeds"
    r"|intrinsic gas (?:too low|exceeds|too high -- (?:CallGas|GasFloor))|gas limit below intrinsic"
    r"|(?:call gas cost|gas floor) \(\d+\) exceeds|transaction requires at least \d+ gas"
    r"|max (?:call depth|code size|initcode size) exceeded"
    r"|contract address collision|nonce (?:uint64 overflow|has max)|invalid code: must not begin"
    r"|precompile .{0,80}failed)",
    re.I,
)
_PASSING_WORDS = re.compile(
    r"timed? ?out|timeout|^internal (server )?error\b|unavailable|overloaded|try again|upstream"
    r"|connection|busy",
    re.I,
)
# What tells where a node is and who may use it: URLs, IP addresses, names of hosts, keys, sockets.
_ADDRESS_WORDS = re.compile(
    r"\S*(?:://|@)\S*|(?<![\w.])/[\w.-]+/\S*"
    r"|\[?(?<![\w:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])(?:\]:\d+)?"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b(?:[:/]\S*)?|\b(?:[a-z0-9_-]+\.)+[a-z][\w-]*(?:[:/]\S*)?"
    r"|\b(?:localhost\b\S*|[a-z][\w-]*:\d{2,5}\b\S*)"
    r"|\b[\w-]*(?:key|token|secret|password|auth\w*)[\"']?\s*[=:]\s*\S+|\bbearer\s\S+",
    re.I,
)
_USER_WORDS = re.compile(r"\S*://\S*@\S*")  # also in a contract's text
_TOO_MUCH_WORDS = re.compile(r"batch|too (large|big)|exceeds? .{0,40}size", re.I)


class NodeError(Exception):
    """The node is unavailable: no connection, time-out, 429, 5xx, or an invalid response."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class BatchRefused(NodeError):
    """A failure that a smaller batch may avoid."""


class TimedOut(BatchRefused):
    """No complete response came in time. Other nodes are tried before a smaller batch is."""


class RateLimited(NodeError):
    """The node's rate limit is exceeded."""


class HistoryPruned(NodeError):
    """The node has dropped old blocks, or their receipts; the message says what helps."""


class WrongChain(NodeError):
    """The node serves another chain than the database has; the operator must choose."""


class MalformedResponse(NodeError):
    """A node's result has another form than the method's: another node may have it right."""


class StateUnavailable(NodeError):
    """The node answers, but not with the state of the block: it is on another fork, has pruned the
    state, or returns errors."""


def without_addresses(text: str) -> str:
    """Return a node's text without what tells where a node is, or who may use it."""
    return _ADDRESS_WORDS.sub("…", text)


class RpcError(Exception):
    """A JSON-RPC error object."""

    is_missing_state = False  # whether the block is known, but its state is pruned

    def __init__(self, code: int, words: str, data: object = None) -> None:
        self.code, self.words, self.data = code, words, data
        is_contracts = self.is_refusal and kind_of(words) == REVERT
        self.words = (_USER_WORDS if is_contracts else _ADDRESS_WORDS).sub("…", words)
        super().__init__(f"{self.words} ({code})")

    def __reduce__(self) -> tuple[type["RpcError"], tuple[int, str, object]]:
        """Return what pickling needs: `args` contain only the message."""
        return type(self), (self.code, self.words, self.data)

    @property
    def message(self) -> str:
        """What clients may read: the words of a refusal. Others, which may tell how the operator's
        nodes are reached, are for logs, which have them as text, and for operators."""
        return self.words if self.is_refusal else "its reason is in Scan's log"

    @property
    def is_refusal(self) -> bool:
        """Whether the called contract refused: it reverted, or the EVM ended its call, so that the
        same call fails always. Anything else is a failure of the node, after which the call is made
        again. The message of a refusal may contain text of the contract."""
        return self.code in _REFUSAL_CODES or bool(_REFUSAL_WORDS.match(self.words))

    @property
    def is_doubtful(self) -> bool:
        """Whether only words tell that it is a refusal, in which a node may tell of its own failure
        as well: who stores what follows from it asks again, beside a call that no contract answers.
        """
        is_revert = self.words.lower().startswith("execution reverted")
        return self.is_refusal and not is_revert and self.code not in _REFUSAL_CODES

    @property
    def is_missing_method(self) -> bool:
        return self.code == METHOD_NOT_FOUND or self._matches(_MISSING_METHOD_WORDS)

    @property
    def is_missing_block(self) -> bool:
        """Whether the node lacks the block: after a reorg, or because it is too new or pruned."""
        return self.code in (RESOURCE_NOT_FOUND, PRUNED_HISTORY) or self._matches(
            _MISSING_BLOCK_WORDS
        )

    @property
    def is_transient(self) -> bool:
        """Whether this is a failure of the node, unrelated to the call."""
        is_pruned = self.code == PRUNED_HISTORY or "pruned" in self.words.lower()
        return self._matches(_PASSING_WORDS) and not is_pruned

    @property
    def is_rate_limit(self) -> bool:
        return self.code in _RATE_LIMIT_CODES or self._matches(_RATE_LIMIT_WORDS)

    @property
    def is_too_much(self) -> bool:
        return self._matches(_TOO_MUCH_WORDS)

    def _matches(self, words: re.Pattern[str]) -> bool:
        return not self.is_refusal and bool(words.search(self.words))


class StatePruned(RpcError):
    """The error of a query of a block's state that the node answers of its newest one."""

    is_missing_state = True
    is_missing_block = is_transient = False


class BlockMissing(RpcError):
    """That of a query of a block that the node does not have: it is behind, or on another fork."""

    is_missing_block = is_transient = True


class AnswerTooLarge(RpcError):
    """A response above the limit; returned in place of a result if a contract can cause it."""

    is_doubtful = False

    @property
    def is_refusal(self) -> bool:
        return True


def too_large(most_bytes: int) -> AnswerTooLarge:
    size = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes >> 10} KiB"
    return AnswerTooLarge(0, f"the node's response is larger than {size}")


NODE_FAILURES = (NodeError, RpcError, MalformedBlock)
RETRIED = (*NODE_FAILURES, ScanError)
FIRST_PAUSE_S, MAX_PAUSE_S = 0.1, 2.0  # so that the head goes on soon after the fault has passed
REFUSAL_PAUSE_S = 0.5  # at least, after a refusal by a rate limit
PERMANENT_PAUSE_S = 60.0
MAX_READS = 8  # of a block that is malformed in the same way; from then on, it is permanent
MAX_READ_PAUSE_S = 1.0
MAX_DOUBLINGS = 10

_T = TypeVar("_T")
_P = ParamSpec("_P")


class Retries:
    """The failures in a row of one activity."""

    def __init__(self, patience_s: float = math.inf) -> None:
        """With a finite `patience_s`, the activity ends when it has failed for as long, and at the
        first permanent error. Without, permanent errors are retried every PERMANENT_PAUSE_S."""
        self._patience_s = patience_s
        self._failures = self._malformed = 0
        self._malformation = ""
        self._since = 0.0
        self._progress: object = None

    def succeeded(self) -> None:
        self._failures = self._malformed = 0

    def pause_s(self, error: Exception, progress: object = None) -> float:
        """Return the seconds to wait after an error; raise it where the activity ends. Where
        `progress` differs from that of the last error, the activity has succeeded in between."""
        if progress != self._progress:
            self._progress = progress
            self.succeeded()
        now = time.monotonic()
        if not self._failures:
            self._since = now
        self._failures += 1
        if isinstance(error, MalformedBlock):
            reason = str(error).partition("; read ")[0]  # without the number of reads
            self._malformed = self._malformed + 1 if reason == self._malformation else 1
            self._malformation = reason
        pause_s = self._least_pause_s(error) * random.uniform(1.0, 1.5)
        is_permanent = isinstance(error, HistoryPruned | WrongChain) or self._malformed >= MAX_READS
        is_over = is_permanent or now + pause_s > self._since + self._patience_s
        if is_over and math.isfinite(self._patience_s):
            raise error
        return pause_s

    def run(self, attempt: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Return the result of an attempt, which is repeated after errors. Raises the error at
        which the activity ends."""
        while True:
            try:
                result = attempt(*args, **kwargs)
            except RETRIED as error:
                time.sleep(self.pause_s(error))
            else:
                self.succeeded()
                return result

    def _least_pause_s(self, error: Exception) -> float:
        if isinstance(error, HistoryPruned):
            return PERMANENT_PAUSE_S
        doubled_s = min(FIRST_PAUSE_S * 2.0 ** min(self._failures - 1, MAX_DOUBLINGS), MAX_PAUSE_S)
        if isinstance(error, MalformedBlock) and self._malformed < MAX_READS:
            return min(doubled_s, MAX_READ_PAUSE_S)
        if isinstance(error, NodeError) and error.retry_after_s is not None:
            return max(error.retry_after_s, REFUSAL_PAUSE_S)
        least_s = REFUSAL_PAUSE_S if isinstance(error, RateLimited) else 0.0
        return max(doubled_s, least_s)


MAX_DATA = 8192  # bytes kept of what a reverting call returned
MAX_WORDS = 200

REVERT = "revert"
OUT_OF_GAS = "out_of_gas"
OTHER = "other"
# In this order: "contract creation code storage out of gas" is the latter half.
_KINDS = tuple(
    (kind, re.compile(words, re.I))
    for kind, words in (
        (REVERT, r"revert"),
        (OUT_OF_GAS, r"out ?of ?gas|OOG\b|gas uint64 overflow|gas required exceeds|intrinsic gas"
         r"|for floor|exceeds the gas limit|requires at least"),
        ("invalid_opcode", r"(invalid|unknown|undefined) ?(\w*opcode|instruction)"
         r"|bad ?instruction|opcode ?not ?found|invalidfe"),
        ("invalid_jump", r"(invalid|bad) ?jump"),
        ("stack_limit", r"stack ?(under|over)flow|stack limit|out of stack"),
        ("static_call", r"write protection|static ?(call|context|state)|in(side)? ?static"),
        ("insufficient_balance", r"insufficient (sender )?(balance|funds)|upfront cost"
         r"|out ?of ?funds|lack of funds"),
        ("call_depth", r"call ?(stack )?(depth|too ?deep)|depth limit"),
        ("invalid_code", r"(code|contract) ?size|init ?code|invalid code|0xef|starting ?with ?ef"),
        ("address_collision", r"collision"),
    )
)  # fmt: skip
KINDS = (*(kind for kind, _ in _KINDS), OTHER)
_HEX = re.compile(r"0x[0-9a-fA-F]{8,}")
_SHORT = re.compile(r"0x((?:[0-9a-fA-F]{2}){1,3})")  # alone in its field: elsewhere it is a number


class CallFailure(NamedTuple):
    """The failure of a call that failed by itself, not by a call that it made.

    `data` is what the call returned, `data_size` bytes cut to MAX_DATA. `words` are the node's,
    only where the kind is OTHER. `code_addresses` are the addresses whose code ran, from this call
    outwards to the outermost: any of them may declare the custom error. All but kind, words, data
    and its size are empty where only the outermost call is known.
    """

    kind: str
    words: str = ""
    data: bytes = b""
    data_size: int = 0
    type: str = ""
    trace_address: tuple[int, ...] = ()
    selector: bytes = b""
    code_addresses: tuple[bytes, ...] = ()
    address: bytes | None = None


def kind_of(words: str) -> str:
    return next((kind for kind, pattern in _KINDS if pattern.search(words)), OTHER)


def reverted_with(error_data: object) -> CallFailure | None:
    """Return the outermost call's failure from a JSON-RPC error's `data`; None where `data` holds
    no returned bytes."""
    returned = revert_data(error_data)
    if returned is None:
        return None
    return CallFailure(REVERT, data=returned[:MAX_DATA], data_size=len(returned))


def revert_data(error_data: object, depth: int = 0) -> bytes | None:
    """Return the bytes that the call returned from a JSON-RPC error's `data`, in which nodes nest
    them in different ways; None where there are none."""
    if isinstance(error_data, str):
        short = _SHORT.fullmatch(error_data)
        if short is not None:
            return bytes.fromhex(short[1]) if depth == 0 else None
        match = _HEX.search(error_data)
        digits = match[0][2:] if match else ""
        return bytes.fromhex(digits[: len(digits) & ~1]) if digits else None
    if isinstance(error_data, dict) and depth < 5:
        error_bytes = error_data.get("data")
        if isinstance(error_bytes, str) and _SHORT.fullmatch(error_bytes):
            return revert_data(error_bytes)
        for value in error_data.values():
            nested = revert_data(value, depth + 1)
            if nested is not None:
                return nested
    return None
