"""To which contract code passes calls on, by the ways through it (delegation.py) and the chain's
state: the same for every call, or what it depends on. And the ways as text, as they are stored."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from scan.cached_values import SizedCache
from scan.contracts.delegation import (
    DATA,
    FORWARDED,
    ITS_SIZE,
    OTHERS,
    RETURN,
    RETURNED,
    UNFOLLOWED,
    Steps,
    Way,
    run_within,
)
from scan.contracts.symbolic_terms import Term, Values, Varies, Word
from scan.ethereum.blocks import DELEGATION
from scan.ethereum.rlp_and_tries import keccak256

CODE, CHAIN_ID = b"code", b"chain"
MAX_INPUT = 1024  # of a call of another contract
MAX_DEPTH = 3  # of contracts that ask others
MAX_READS = 16  # for a contract
CALLER, UNKNOWN_CODE = "the caller", "code that was not followed to its end"
FUNCTION = "the function that is called"


class Read(NamedTuple):
    """What is read of the chain: the word in a slot of the contract `of`, or, where that is empty,
    of the one that is asked about; or its CODE, or the CHAIN_ID."""

    of: bytes
    what: bytes


Known = Mapping[Read, bytes | None]


class Missing(Exception):
    """The state lacks reads, which are the argument."""


class Targets(NamedTuple):
    """Where calls of functions that the code does not have are passed on to: to `target`, or to
    what `depends_on` names in words; neither where they are not."""

    target: bytes = b""
    depends_on: tuple[str, ...] = ()


class Place(NamedTuple):
    """The contract whose storage code uses, and who called it; None where anybody may."""

    of: bytes
    address: bytes
    caller: bytes | None = None


class State:
    """The state that is known of the chain, and the steps that are left for code of others."""

    def __init__(self, known: Known, steps: Steps, input_: bytes | None = None) -> None:
        """`input_` is that of a call, None for any."""
        self._known, self._steps, self._input = known, steps, input_
        self.used: dict[Read, None] = {}
        self.missing: dict[Read, None] = {}

    def read(self, of: bytes, what: bytes) -> bytes:
        read = Read(of, what)
        self.used[read] = None
        if read not in self._known:
            self.missing[read] = None
        value = self._known.get(read)
        if value is None or len(self.used) > MAX_READS:
            raise Varies(OTHERS)
        return value

    def targets(self, ways: Sequence[Way], address: bytes) -> Targets:
        """Return where a contract passes calls on to. Raises Missing and OutOfSteps."""
        self._steps.take(sum(2 + len(way.trail) for way in ways))
        values = self._values_at(Place(b"", address), 0)
        depends: dict[str, None] = {}
        ends: list[tuple[Way, set[int]]] = []
        for way in ways:
            if not self._may_be(way.trail, values):
                continue
            targets: set[int] = set()
            try:
                if not way.is_own:
                    self._require_followed(way, values)
                targets |= {values.number(target) for target in way.targets}
            except Varies as error:
                depends[FUNCTION if way.is_own else str(error)] = None
            ends.append((way, targets))
        if self.missing:
            raise Missing(tuple(self.missing))
        ends.sort(key=lambda end: (end[0].is_own, end[0].ending != FORWARDED))
        if not ends or ends[0][0].ending != FORWARDED or ends[0][0].is_own:
            return Targets()
        first, its = ends[0]
        if not depends and not any(any(targets) for _, targets in ends):
            return Targets()
        for way, targets in ends:
            if way.is_own:
                depends |= {FUNCTION: None} if targets - its else {}
            elif targets != its and way.ending != UNFOLLOWED:
                depends |= dict.fromkeys(_differences(first, way, values))
        if not depends and len(its) > 1:
            depends[RETURN] = None
        return Targets(b"", tuple(depends)) if depends else Targets(its.pop().to_bytes(20))

    def _may_be(self, trail: Iterable[tuple[Term, bool]], values: Values) -> bool:
        for condition, outcome in trail:
            if condition.op in _ASSUMPTIONS:
                continue
            try:
                if bool(values.number(condition)) != outcome:
                    return False
            except Varies:
                continue
        return True

    def _require_followed(self, way: Way, values: Values) -> None:
        """Raise Varies where a way may go on otherwise than it was followed."""
        for condition, _ in way.trail:
            if condition.op in _ASSUMPTIONS and not values.value(condition):
                raise Varies(UNKNOWN_CODE)
        if way.ending == UNFOLLOWED:
            raise Varies(UNKNOWN_CODE)

    def _values_at(self, place: Place, depth: int) -> Values:
        def leaf(term: Term, values: Values) -> int | bytes:
            match term.op:
                case "slot":
                    slot = values.number(term.args[0]).to_bytes(32)
                    return int.from_bytes(self.read(place.of, slot))
                case "address":
                    return int.from_bytes(place.address)
                case "caller" if place.caller is not None:
                    return int.from_bytes(place.caller)
                case "input" if self._input is not None:
                    return self._input
                case "size" if self._input is not None:
                    return len(self._input)
                case "chain_id":
                    return int.from_bytes(self.read(b"", CHAIN_ID))
                case "answer" | "delegated":
                    return self._returned_data(term, values, place, depth)
                case "answered":
                    return self._is_answered(term.args[0], values, place, depth)
                case "answer_known" | "answer_size" | "assumed" | "assumed_least":
                    answer = values.value(term.args[0])
                    size = len(answer) if isinstance(answer, bytes) else 32
                    match term.op:
                        case "assumed":
                            return int(size == term.args[1])
                        case "assumed_least":
                            return int(size >= term.args[1])
                    return size if term.op == "answer_size" else 1
                case "failure":
                    raise Varies(OTHERS)
                case "varies":
                    raise Varies(term.args[0])
            raise Varies(_WORDS.get(term.op, RETURN))

        return Values(leaf)

    def _ways_to_answer(
        self, term: Term, values: Values, place: Place, depth: int
    ) -> tuple[Values, list[Way]]:
        """Return the ways by which a contract may answer in this state, to everybody who asks, or
        fail, with the values of its terms."""
        to = values.number(term.args[0]).to_bytes(20)
        input_ = values.joined(term.args[1:])
        if len(input_) > MAX_INPUT or depth == MAX_DEPTH or not any(to[:18]):
            raise Varies(OTHERS)
        code = self.read(to, CODE)
        if code.startswith(DELEGATION):
            raise Varies(OTHERS)
        callee = place if term.op == "delegated" else Place(to, to, place.address)
        callee_values = self._values_at(callee, depth + 1)
        ways = [
            way
            for way in answers_of(code, input_, self._steps)
            if self._may_be(way.trail, callee_values)
        ]
        for way in ways:
            self._require_followed(way, callee_values)
        return callee_values, ways

    def _returned_data(self, term: Term, values: Values, place: Place, depth: int) -> bytes:
        """Return what a contract answers where it does."""
        callee_values, ways = self._ways_to_answer(term, values, place, depth)
        answers = {callee_values.joined(way.returned) for way in ways if way.ending == RETURNED}
        if len(answers) != 1:
            raise Varies(OTHERS)
        return answers.pop()

    def _is_answered(self, term: Term, values: Values, place: Place, depth: int) -> int:
        """Return whether a contract answers and does not fail."""
        _, ways = self._ways_to_answer(term, values, place, depth)
        endings = {way.ending for way in ways}
        if len(endings) != 1:
            raise Varies(OTHERS)
        return int(endings == {RETURNED})


def _differences(first: Way, other: Way, values: Values) -> list[str]:
    """Return in words what the first condition is of by which two ways part."""
    pairs = zip(first.trail, other.trail, strict=False)
    parting = next((pair for pair in pairs if pair[0] != pair[1]), ())
    words = set()
    for leaf in {leaf for condition, _ in parting for leaf in condition.leaves}:
        try:
            values.value(leaf)
        except Varies as error:
            words.add(str(error))
    return sorted(words) or [UNKNOWN_CODE]


_ASSUMPTIONS = frozenset({"answer_known", "assumed", "assumed_least"})
_WORDS: Mapping[int | str, str] = {
    "input": DATA,
    "size": ITS_SIZE,
    "caller": CALLER,
    "memory_size": "the size of its memory",
}


_ANSWERS: SizedCache[tuple[Way, ...]] = SizedCache(4 * 1024 * 1024)


def answers_of(code: bytes, input_: bytes, steps: Steps) -> Iterable[Way]:
    """Return the ways of a contract's answer. Raises OutOfSteps."""
    key = keccak256(code), input_
    ways = _ANSWERS.get(key)
    if ways is None:
        ways = tuple(run_within(code, steps, input_).ways)
        _ANSWERS.store(key, ways, 2_000 + 500 * len(ways))
    return ways


def to_text(ways: Iterable[Way]) -> list[Any]:
    """Return ways as JSON, with each term once."""
    terms: list[Any] = []
    places: dict[Term, int] = {}

    def of_word(word: Word) -> Any:
        if isinstance(word, int):
            return hex(word)
        if word not in places:
            inside = [of_argument(argument) for argument in word.args]
            places[word] = len(terms)
            terms.append([word.op, *inside])
        return places[word]

    def of_argument(argument: Any) -> Any:
        if isinstance(argument, bytes):
            return {"data": argument.hex()}
        if isinstance(argument, tuple):
            return [of_word(argument[0]), *argument[1:]]
        return {"text": argument} if isinstance(argument, str) else of_word(argument)

    rows = [
        [
            way.ending,
            [[of_word(term), outcome] for term, outcome in way.trail],
            [*map(of_word, way.targets)],
            way.is_own,
        ]
        for way in ways
    ]
    return [terms, rows]


def from_text(stored: Sequence[Any]) -> tuple[Way, ...]:
    """Return the ways of to_text()."""
    terms: list[Term] = []

    def word(value: Any) -> Word:
        return int(value, 16) if isinstance(value, str) else terms[value]

    def argument(value: Any) -> Any:
        if isinstance(value, dict):
            return bytes.fromhex(value["data"]) if "data" in value else value["text"]
        return (word(value[0]), *value[1:]) if isinstance(value, list) else word(value)

    for op, *arguments in stored[0]:
        terms.append(Term(op, tuple(map(argument, arguments))))
    return tuple(
        Way(
            ending,
            tuple((terms[term], outcome) for term, outcome in trail),
            tuple(map(word, targets)),
            (),
            is_own,
        )
        for ending, trail, targets, is_own in stored[1]
    )
