"""Errors of nodes, and what their codes and words mean."""

import re

METHOD_NOT_FOUND = -32601
RESOURCE_NOT_FOUND = -32001  # EIP-1474
PRUNED_HISTORY = 4444  # execution-apis 636
_REFUSAL_CODES = (3, -32015)
_RATE_LIMIT_CODES = (429, -32005, -32097)
_RATE_LIMIT_WORDS = re.compile(r"rate.?limit|too many requests|limit exceeded|capacity", re.I)
_MISSING_METHOD_WORDS = re.compile(
    r"method .{0,80}(not found|does not exist|not (supported|available))|unsupported method", re.I
)
_MISSING_STATE_WORDS = re.compile(
    r"missing trie node|historical state|state .{0,80}(not|un)available|no state available"
    r"|prun(ed|ing)|proof window|block is too old",
    re.I,
)
_MISSING_BLOCK_WORDS = re.compile(
    r"(header|block) .{0,90}not found|header not found|unknown (block|header)|resource not found"
    r"|could not find (block|header)|cannot find (block|header)|out ?of ?range",
    re.I,
)
# How messages begin where the EVM ended the call, in the words of clients; text of the contract may
# follow. "execution aborted" is a time-out of Geth's, and "EVM error; database error" Anvil's of
# the node that it forks.
_REFUSAL_WORDS = re.compile(
    r"(?:[\w= ]{1,40}[:=] ?){0,3}(?:"
    r"revert|(?:(?:vm|message) )?execution (?:revert|error|failed)|vm exception"
    r"|transaction (?:revert|ran out of gas|processing could not be completed due to an exception)"
    r"|evm error:? (?!database)\w|(?:contract creation code storage )?out ?of ?gas"
    r"|out of memory: memory limit|gas (?:required exceeds|uint64 overflow)"
    r"|(?:invalid|unknown|undefined|bad) ?(?:op ?code|instruction|jump)|opcode ?not ?found"
    r"|stack ?(?:under|over)flow|stack limit reached|out ?of ?stack|write protection"
    r"|static ?(?:call|context|state)|return data out of bounds|access ?violation"
    r"|insufficient (?:balance|funds)|max (?:call depth|code size|initcode size) exceeded"
    r"|contract address collision|nonce (?:uint64 overflow|has max)|invalid code: must not begin"
    r"|precompile .{0,80}failed)",
    re.I,
)
_PASSING_WORDS = re.compile(
    r"timed? ?out|timeout|^internal (server )?error\b|unavailable|overloaded|try again|upstream"
    r"|connection|busy",
    re.I,
)
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


class RpcError(Exception):
    """A JSON-RPC error object."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(f"{message} ({code})")
        self.code = code
        self.message = message
        self.data = data

    def __reduce__(self) -> tuple[type["RpcError"], tuple[int, str, object]]:
        """Return what pickling needs: `args` contain only the message."""
        return type(self), (self.code, self.message, self.data)

    @property
    def is_refusal(self) -> bool:
        """Whether the called contract refused: it reverted, or the EVM ended its call, so that the
        same call fails always. Anything else is a failure of the node, after which the call is made
        again. The message of a refusal may contain text of the contract."""
        return self.code in _REFUSAL_CODES or bool(_REFUSAL_WORDS.match(self.message))

    @property
    def is_missing_method(self) -> bool:
        return self.code == METHOD_NOT_FOUND or self._matches(_MISSING_METHOD_WORDS)

    @property
    def is_missing_state(self) -> bool:
        """Whether the block is known, but its state is pruned."""
        return self._matches(_MISSING_STATE_WORDS)

    @property
    def is_missing_block(self) -> bool:
        """Whether the node lacks the block: after a reorg, or because it is too new or pruned."""
        return self.code in (RESOURCE_NOT_FOUND, PRUNED_HISTORY) or self._matches(
            _MISSING_BLOCK_WORDS
        )

    @property
    def is_pruned(self) -> bool:
        """Whether the node has dropped the block, as it says."""
        return self.code == PRUNED_HISTORY

    @property
    def is_transient(self) -> bool:
        """Whether this is a failure of the node, unrelated to the call."""
        is_pruned = self.code == PRUNED_HISTORY or "pruned" in self.message.lower()
        return self._matches(_PASSING_WORDS) and not is_pruned

    @property
    def is_rate_limit(self) -> bool:
        return self.code in _RATE_LIMIT_CODES or self._matches(_RATE_LIMIT_WORDS)

    @property
    def is_too_much(self) -> bool:
        return self._matches(_TOO_MUCH_WORDS)

    def _matches(self, words: re.Pattern[str]) -> bool:
        return not self.is_refusal and bool(words.search(self.message))


class AnswerTooLarge(RpcError):
    """A response above the limit; returned in place of a result if a contract can cause it."""

    @property
    def is_refusal(self) -> bool:
        return True


def too_large(most_bytes: int) -> AnswerTooLarge:
    size = f"{most_bytes >> 20} MiB" if most_bytes >= 1 << 20 else f"{most_bytes >> 10} KiB"
    return AnswerTooLarge(0, f"the node's response is larger than {size}")
