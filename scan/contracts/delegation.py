"""Where code passes calls on: an abstract run of the code itself, by an interpreter of the EVM
whose values are numbers, or terms of what the code alone does not have (symbolic_terms.py).

A run knows nothing of the chain. Where a condition is a term it goes on both ways, so what it finds
holds for every caller and every block, and is kept by code; proxy_contracts.py reads it with the
chain's state. All ways through a code have one budget of steps, charged before the work, as code
may be hostile; it ends at instructions that no way to a delegate needs.
"""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import copy
from typing import Any, NamedTuple

from scan.contracts.symbolic_terms import (
    AND,
    ARITIES,
    EXP,
    MOD,
    Part,
    Term,
    TooComplex,
    Values,
    Word,
    bare,
    computed,
    equality,
    inner_terms,
    parts_of,
)
from scan.ethereum.rlp_and_tries import keccak256

BUDGET = 8_000  # steps of a code; words that are touched, copied or hashed cost as much
MAX_MEMORY = 16 * 1024
MAX_WAYS = 64  # that do not fail
MAX_CALLS = 8  # on a way
MAX_TRAIL = 64  # conditions on a way
MAX_PLACES, MAX_WEIGHT = 128, 200  # of a jump to one of several places, and of its term
MAX_SIZES = 12  # of call data, with which code is run
MAX_STACK = 1024
LEAST_GAS = 2**20  # that a call which is passed on gets, where it is a fixed amount
# Sizes of call data that conditions of it may tell apart: of calls of functions, and of others.
SIZES = (36, *range(4, 36), *range(37, 264), 292, 324, 388, 516, 1028, 2052)
SOME_SIZES = (4, 36, 100, 2052)
SMALL_SIZES = (0, 1, 2, 3)
# PUSH1 to PUSH32 with their data, which the code may cut short.
PUSH = b"|".join(re.escape(bytes([0x5F + n])) + b".{0,%d}" % n for n in range(1, 33))
_PUSH = re.compile(PUSH, re.DOTALL)
_ADDRESS = 2**160 - 1

FORWARDED, KEPT, UNFOLLOWED = "forwarded", "kept", "unfollowed"
RETURNED, FAILED = "returned", "failed"  # of runs for an answer
DATA, ITS_SIZE = "the call's data", "the size of the call's data"
RETURN, OTHERS = "what is returned", "what other contracts do in the call"
OWN_STORES = "what the call itself stores"


class Way(NamedTuple):
    """How a way through the code ends. `targets` are the contracts to which it passed the whole
    input on by DELEGATECALL, with all that it did so to after that; `returned` is the answer of a
    run for one. `trail` has the conditions on it, as they came out. `is_own`: it is of a function
    that the code has itself."""

    ending: str
    trail: tuple[tuple[Term, bool], ...] = ()
    targets: tuple[Word, ...] = ()
    returned: tuple[Part, ...] = ()
    is_own: bool = False


class OutOfSteps(Exception):
    """The budget is spent."""


class Steps:
    """A number of steps that runs have together."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self, cost: int) -> None:
        """Take steps before they are done. Raises OutOfSteps."""
        self.left -= cost
        if self.left < 0:
            raise OutOfSteps


class _Failed(Exception):
    """The way fails, which undoes what it did."""


class _Ended(Exception):
    """The way has been followed."""


class _Unfollowed(Exception):
    """The way cannot be followed."""


class _State:
    """A way that is being followed, for call data of a size."""

    position = calls = reads = 0
    is_own = False  # in a function that the code has itself
    selector = b""  # of that
    passed_on: Any = None  # the term of whether the implementation did not fail
    are_stores_known = True  # False: other code may have written to its storage
    returned: Term | None = None
    trail: tuple[tuple[Term, bool], ...] = ()
    targets: tuple[Word, ...] = ()
    # Writes to places that follow from the call data's size, or of a size that does, and the
    # lowest place where other sizes may have left something else.
    moving: tuple[Word, ...] = ()
    lowest = MAX_MEMORY

    def __init__(self, size: int, sizes: tuple[int, ...]) -> None:
        self.size, self.sizes = size, sizes  # the trail is the same for all of these
        self.stack: list[Word] = []
        self.memory = bytearray()
        self.cells: dict[int, tuple[Term, int]] = {}  # bytes of the memory that are of terms
        self.owners: dict[int, int] = {}  # from there on: the number of a moving write, 0 of others
        self.stored: dict[Word, Word] = {}
        self.decided: dict[Term, bool] = {}

    def fork(self) -> "_State":
        other = copy(self)
        for name in ("stack", "memory", "cells", "owners", "stored", "decided"):
            setattr(other, name, copy(getattr(self, name)))
        return other

    @property
    def cost(self) -> int:
        """What a copy costs."""
        words = len(self.stack) + len(self.memory) // 32 + 4 * len(self.stored)
        return 8 + (words + len(self.cells) + len(self.owners) + 4 * len(self.decided)) // 8

    @property
    def key(self) -> Any:
        """What decides how the way goes on."""
        return (
            *(self.position, tuple(self.stack), bytes(self.memory), frozenset(self.cells.items())),
            *(tuple(self.stored.items()), frozenset(self.decided.items()), self.sizes),
            *(self.size, self.returned, self.targets, self.selector, self.are_stores_known),
            *(self.reads, self.moving, self.lowest, frozenset(self.owners.items())),
        )


class Run:
    """A run of code, for calls of functions that it does not have itself, with data of the first of
    `sizes` and of others of these that it tells apart; or, with a `selector`, for calls of that
    function; or, with an `input_`, for its answer to that, which may not write. `ways` are those
    that do not fail, `own` the selectors of functions that it has and may not pass on; `end` is
    where the code ends that ran."""

    def __init__(
        self,
        code: bytes,
        steps: Steps,
        input_: bytes | None = None,
        sizes: tuple[int, ...] = SIZES,
        selector: bytes = b"",
    ) -> None:
        self.ways: dict[Way, None] = {}
        self.own: set[bytes] = set()
        self.named: dict[bytes, None] = {}  # all with which the code compares that is called
        self._kept: set[bytes] = set()  # functions that do not pass all calls on
        self.end = 0
        self._code, self._steps, self._input, self._selector = code, steps, input_, selector
        self._terms: dict[Any, Term] = {}
        self._destinations: bytes | None = None
        self._outcomes: dict[Term, Mapping[int, bool]] = {}
        self._seen: set[Any] = set()
        self._all_sizes = sizes
        self._sizes = [sizes[0] if input_ is None else len(input_)]
        self._waiting: list[_State] = []
        self._own_waiting: list[_State] = []
        try:
            self._follow_all()
        except OutOfSteps:
            self.ways[Way(UNFOLLOWED)] = None

    def passes_all_on_to(self) -> int | None:
        """Return the only place to which a run for a selector passes calls on, whatever they have;
        None where it may do something else."""
        places = {way.targets for way in self.ways}
        endings = {way.ending for way in self.ways}
        if self._kept or len(places) != 1 or endings != {FORWARDED}:
            return None
        first, *others = places.pop()
        return first if isinstance(first, int) and not others else None

    def _follow_all(self) -> None:
        for size in self._sizes:  # ways find more of them
            self._waiting = [_State(size, self._all_sizes)]
            if self._selector:
                self._waiting[0].is_own, self._waiting[0].selector = True, self._selector
            while self._waiting:
                self._follow(self._waiting.pop())
            if len(self._sizes) > MAX_SIZES:
                raise OutOfSteps
        if any(way.ending == FORWARDED for way in self.ways):
            with suppress(OutOfSteps):  # nothing is said of the functions that it has itself
                while self._own_waiting:
                    self._follow(self._own_waiting.pop())
                    self._own_waiting += self._waiting
                    self._waiting = []
                self.own &= self._kept

    def _follow(self, state: _State) -> None:
        try:
            self._run(state)
        except _Ended:
            pass
        except (_Failed, IndexError):
            if self._input is not None:
                self._note(state, FAILED)
        except (_Unfollowed, TooComplex):
            self._note(state, UNFOLLOWED)

    def _note(self, state: _State, ending: str, returned: tuple[Part, ...] = ()) -> None:
        if state.is_own and ending != FORWARDED:
            self._kept.add(state.selector)
        if not state.is_own or state.targets:
            if len(self.ways) == MAX_WAYS:
                raise OutOfSteps
            self.ways[Way(ending, state.trail, state.targets, returned, state.is_own)] = None

    def _run(self, state: _State) -> None:
        stack, code, take = state.stack, self._code, self._steps.take
        while state.position < len(code):
            take(1)
            at, opcode = state.position, code[state.position]
            size = opcode - 0x5F if 0x5F <= opcode <= 0x7F else 0
            state.position = at + 1 + size
            self.end = max(self.end, state.position)
            if 0x5F <= opcode <= 0x7F:
                stack.append(int.from_bytes(code[at + 1 : at + 1 + size].ljust(size, b"\0")))
                if len(stack) > MAX_STACK:
                    raise _Failed
            elif 0x80 <= opcode <= 0x8F:
                stack.append(stack[0x7F - opcode])
            elif 0x90 <= opcode <= 0x9F:
                stack[-1], stack[0x8E - opcode] = stack[0x8E - opcode], stack[-1]
            elif opcode in ARITIES:
                stack.append(self._computed(opcode, *[stack.pop() for _ in range(ARITIES[opcode])]))
            elif opcode in _INSTRUCTIONS:
                if self._input is not None and opcode in _WRITES:
                    raise _Unfollowed
                arity, instruction = _INSTRUCTIONS[opcode]
                result = instruction(self, state, *[stack.pop() for _ in range(arity)])
                if result is not None:
                    stack.append(result)
            elif opcode in (0xFD, 0xFE):  # REVERT, INVALID
                raise _Failed
            else:
                raise _Unfollowed  # a later fork may have it
        self.stop(state)

    def stop(self, state: _State, start: Word = 0, size: Word = 0) -> None:
        """End a way with what it returns."""
        if self._input is None:
            if state.decided.get(state.passed_on) is False:
                state.targets = ()  # it goes on where the other contract failed
            self._note(state, FORWARDED if state.targets else KEPT)
        else:
            self._note(state, RETURNED, self._memory_range(state, start, size))
        raise _Ended

    def _computed(self, op: int, *operands: Word) -> Word:
        if op == EXP:
            self._steps.take(40)
        result = computed(op, operands)
        return self.term(op, *operands) if result is None else result

    def term(self, op: int | str, *args: Any) -> Term:
        """Return a term, the same for the same arguments."""
        key = op, args
        if key not in self._terms:
            self._steps.take(2)
            self._terms[key] = Term(op, args)
        return self._terms[key]

    def varies(self, state: _State, what: str) -> Term:
        """Return a value that may be another at each time."""
        state.reads += 1
        return self.term("varies", what, state.reads)

    def _number(self, state: _State, value: Word) -> int:
        """Return a place or a size in memory. Of terms it is known of the call data's size, and
        assumed of what is returned to the code: an answer of one word."""
        if isinstance(value, int):
            return value
        if not value.kinds <= {"size", "answer_size", "returned_size", "memory_size"}:
            raise _Unfollowed
        for leaf in value.leaves:
            if leaf.op == "answer_size":
                self._decide(state, self.term("assumed", leaf.args[0], 32), True)
        return _assumed(state.size).number(value)

    def _expand_memory(self, state: _State, start: Word, size: Word) -> tuple[int, int]:
        """Return place and size of a part of the memory, which is there from then on."""
        n = self._number(state, size)
        at = self._number(state, start) if n else 0
        if at + n > MAX_MEMORY:
            raise _Unfollowed
        self._steps.take(n // 16)
        if n:
            words = -(-(at + n) // 32)
            state.memory.extend(bytes(max(words * 32 - len(state.memory), 0)))
        return at, n

    def _memory_range(self, state: _State, start: Word, size: Word) -> tuple[Part, ...]:
        at, n = self._expand_memory(state, start, size)
        if n and not self._is_fixed(state, start, at, n, size):
            return ((self.varies(state, DATA), 0, n),)
        if state.cells:
            self._steps.take(n // 8)
            return parts_of(bytes(state.memory[at : at + n]), state.cells, at)
        return (bytes(state.memory[at : at + n]),)

    def _is_fixed(self, state: _State, start: Word, at: int, n: int, size: Word) -> bool:
        """Return whether a part of the memory has the same of call data of any size."""
        if _moves(size) or (_moves(start) and not state.moving):
            return False
        if not state.moving:
            return True
        self._steps.take(n // 4)
        owners = {state.owners.get(i, -1 if i >= state.lowest else 0) for i in range(at, at + n)}
        if not _moves(start):
            return owners == {0}
        return -1 not in owners and all(
            owner and len({_distance(start, state.moving[owner - 1], s) for s in SOME_SIZES}) == 1
            for owner in owners
        )

    def _note_write(self, state: _State, to: Word, at: int, n: int, *, is_moving: bool) -> None:
        """Note a write; one that `is_moving` is of a size that moves, of terms alone where its
        place does not."""
        if _moves(to) or is_moving:
            state.moving = (*state.moving, to)
            lowest = min(at, _assumed(4).number(to)) if _moves(to) else at + n
            self._steps.take(len(state.owners) // 4)
            state.owners = {i: owner for i, owner in state.owners.items() if i < lowest}
            state.lowest = min(state.lowest, lowest)
        if state.moving:
            self._steps.take(n // 4)
            state.owners |= dict.fromkeys(range(at, at + n), len(state.moving) if _moves(to) else 0)

    def _write(
        self,
        state: _State,
        to: Word,
        data: bytes,
        cells: Sequence[Any] = (),
        *,
        is_moving: bool = False,
    ) -> None:
        """Write bytes; those with a cell are of terms."""
        at, n = self._expand_memory(state, to, len(data))
        self._note_write(state, to, at, n, is_moving=is_moving)
        if state.cells or cells:
            self._steps.take(n // 4)
            for i in range(n):
                state.cells.pop(at + i, None)
            state.cells |= {at + i: cell for i, cell in enumerate(cells) if cell is not None}
        state.memory[at : at + n] = data

    def _write_term(self, state: _State, to: Word, size: Word, term: Term, start: Word = 0) -> None:
        """Write bytes of a term."""
        n, first = self._number(state, size), self._number(state, start)
        self._expand_memory(state, to, n)
        self._steps.take(n // 2)
        cells = [(term, first + i) for i in range(n)]
        self._write(state, to, bytes(n), cells, is_moving=_moves(size))

    def copy(self, state: _State, source: bytes, to: Word, start: Word, size: Word) -> None:
        """Copy a part of a source, which zeros follow, into the memory."""
        if _moves(size) or _moves(start):
            return self._write_term(state, to, size, self.varies(state, DATA))
        n, first = self._number(state, size), self._number(state, start)
        self._expand_memory(state, to, n)
        self._write(state, to, source[first : first + n].ljust(n, b"\0"))

    def copy_code(self, state: _State, to: Word, start: Word, size: Word) -> None:
        is_word = isinstance(size, int) and size <= 32
        if isinstance(start, Term) and start.kinds == {"input"} and is_word:  # of a table
            return self._write_term(state, to, size, self.term("code", start))
        self.copy(state, self._code, to, start, size)

    def copy_input(self, state: _State, to: Word, start: Word, size: Word) -> None:
        if self._input is not None:
            return self.copy(state, self._input, to, start, size)
        n, first = self._number(state, size), self._number(state, start)
        self._expand_memory(state, to, n)
        # Beyond this size there are data of larger ones.
        cells = [(self.term("input"), i) for i in range(first, first + n)]
        self._write(state, to, bytes(n), cells, is_moving=_moves(size))

    def copy_returned(self, state: _State, to: Word, start: Word, size: Word) -> None:
        if state.returned is not None:
            self._write_term(state, to, size, state.returned, start)
        elif self._number(state, size) or self._number(state, start):
            raise _Failed

    def copy_code_of(self, state: _State, of: Word, to: Word, start: Word, size: Word) -> None:
        self._write_term(state, to, size, self.varies(state, "the code of accounts"))

    def copy_memory(self, state: _State, to: Word, start: Word, size: Word) -> None:
        at, n = self._expand_memory(state, start, size)
        if n and not self._is_fixed(state, start, at, n, size):
            return self._write_term(state, to, size, self.varies(state, DATA))
        cells = [state.cells.get(i) for i in range(at, at + n)] if state.cells else ()
        self._write(state, to, bytes(state.memory[at : at + n]), cells)

    def load_input(self, state: _State, start: Word) -> Word:
        if isinstance(start, Term):
            return self.varies(state, DATA)
        if self._input is not None:
            return int.from_bytes(self._input[start : start + 32].ljust(32, b"\0"))
        return self._concatenated(((self.term("input"), start, start + 32),))

    def input_size(self, state: _State) -> Word:
        return self.term("size") if self._input is None else len(self._input)

    def _concatenated(self, parts: Sequence[Part]) -> Word:
        parts = [part for part in parts if part]
        if len(parts) == 1 and isinstance(parts[0], tuple) and parts[0][1:] == (0, 32):
            term = parts[0][0]
            if isinstance(term.op, int) or term.op in ("bytes", "hash", "slot", "varies", "caller"):
                return term
        if all(isinstance(part, bytes) for part in parts):
            return int.from_bytes(b"".join(part for part in parts if isinstance(part, bytes)))
        return self.term("bytes", *parts)

    def load(self, state: _State, at: Word) -> Word:
        return self._concatenated(self._memory_range(state, at, 32))

    def store(self, state: _State, at: Word, value: Word, first: int = 0) -> None:
        """Write a word, or its bytes from one on."""
        if isinstance(value, int):
            self._write(state, at, value.to_bytes(32)[first:])
        else:
            self._write(state, at, bytes(32 - first), [(value, i) for i in range(first, 32)])

    def store_byte(self, state: _State, at: Word, value: Word) -> None:
        self.store(state, at, self._computed(AND, value, 255), 31)

    def hash(self, state: _State, start: Word, size: Word) -> Word:
        parts = self._memory_range(state, start, size)
        self._steps.take(4 + self._number(state, size) // 16)
        if all(isinstance(part, bytes) for part in parts):
            return int.from_bytes(keccak256(b"".join(p for p in parts if isinstance(p, bytes))))
        return self.term("hash", *parts)

    def load_slot(self, state: _State, slot: Word) -> Word:
        if slot in state.stored:
            return state.stored[slot]
        # A slot that only the state tells may be the same as another.
        if state.stored and any(isinstance(key, Term) for key in (slot, *state.stored)):
            return self.varies(state, OWN_STORES)
        return self.term("slot", slot) if state.are_stores_known else self.varies(state, OTHERS)

    def store_slot(self, state: _State, slot: Word, value: Word) -> None:
        state.stored[slot] = value

    def jump(self, state: _State, to: Word) -> None:
        if isinstance(to, Term):
            places = self._places(to)
            for place in places[1:]:
                self._steps.take(state.cost)
                other = state.fork()
                with suppress(_Failed):
                    self.jump(other, place)
                    self._waiting.append(other)
            to = places[0]
        if self._destinations is None:
            self._steps.take(len(self._code) // 64)
            self._destinations = _PUSH.sub(lambda push: bytes(len(push[0])), self._code)
        if self._destinations[to : to + 1] != b"\x5b":
            raise _Failed
        state.position = to

    def _places(self, to: Term) -> list[int]:
        """Return all places to which a term of the call data may jump: those in a table of the
        code for the remainders of the selector."""
        if to.weight > MAX_WEIGHT or not to.kinds <= {"input", "code"}:
            raise _Unfollowed
        remainder = _remainder_in(to)
        if remainder is None:
            raise _Unfollowed
        places = set()
        for number in range(remainder.args[1]):
            self._steps.take(to.weight)
            values = Values(self._code_at, {remainder: number})
            places.add(values.number(to))
        return sorted(places)

    def _code_at(self, term: Term, values: Values) -> bytes:
        if term.op != "code":
            raise _Unfollowed
        start = values.number(term.args[0])
        return self._code[start : start + 32]

    def jump_if(self, state: _State, to: Word, condition: Word) -> None:
        known = bool(condition) if isinstance(condition, int) else self._outcome(state, condition)
        if known is None and isinstance(condition, Term):
            self._steps.take(state.cost)
            other = state.fork()
            with suppress(_Failed, _Ended):
                self.jump(other, to)
                if self._enters(other, condition, outcome=True):
                    self._waiting.append(other)
            if not self._enters(state, condition, outcome=False):
                raise _Ended
        elif known:
            self.jump(state, to)

    def jump_destination(self, state: _State) -> None:
        """End a way that goes on as another did."""
        if state.trail:
            self._steps.take(state.cost)
            key = state.key
            if key in self._seen:
                raise _Ended
            self._seen.add(key)

    def _outcome(self, state: _State, condition: Term) -> bool | None:
        """Return how a condition comes out on this way, None where it may do either."""
        term, is_negated = bare(condition)
        if term in state.decided:
            return state.decided[term] != is_negated
        if term.kinds == {"size"}:
            return self._outcome_of_size(state, term) != is_negated
        if term.kinds == {"answer_size"} and all(
            self.term("assumed", leaf.args[0], 32) in state.decided for leaf in term.leaves
        ):
            return bool(_assumed(state.size).number(term)) != is_negated
        if term.kinds == {"input"} and state.selector:
            # The same whatever the arguments are.
            ends = {bool(_of_input(state.selector, fill).number(term)) for fill in (0, 255)}
            return ends.pop() != is_negated if len(ends) == 1 else None
        return None

    def _outcome_of_size(self, state: _State, term: Term) -> bool:
        """Return how a condition of the call data's size comes out, and have the code run for one
        of the sizes for which this way would go on otherwise."""
        if term not in self._outcomes:
            self._steps.take(len(self._all_sizes) * term.weight // 2)
            self._outcomes[term] = {n: bool(_assumed(n).number(term)) for n in self._all_sizes}
        outcomes = self._outcomes[term]
        others = [n for n in state.sizes if outcomes[n] != outcomes[state.size]]
        if others:
            state.sizes = tuple(n for n in state.sizes if outcomes[n] == outcomes[state.size])
            self._decide(state, term, outcomes[state.size])
            if not {*others} & {*self._sizes}:
                self._sizes.append(others[0])
        return outcomes[state.size]

    def _enters(self, state: _State, condition: Term, *, outcome: bool) -> bool:
        """Note a condition on a way; return whether it is to be followed now: those of functions
        that the code has itself are followed after all others."""
        term, is_negated = bare(condition)
        is_true = outcome != is_negated
        self._decide(state, term, is_true)
        compared = equality(term)
        if compared is None or term.kinds != {"input"} or is_true != compared[2] or state.is_own:
            return True
        of, number, _ = compared
        for selector in ((number & 0xFFFFFFFF).to_bytes(4), number.to_bytes(32)[:4]):
            if _of_input(selector, 0).number(of) == number:
                self.own.add(selector)
                self.named[selector] = None
                state.is_own, state.selector = True, selector
                self._own_waiting.append(state)
                return False
        return True

    def _decide(self, state: _State, term: Term, outcome: bool) -> None:
        if term in state.decided:
            if state.decided[term] != outcome:
                raise _Ended
            return
        if len(state.trail) == MAX_TRAIL:
            raise _Unfollowed
        state.trail = (*state.trail, (term, outcome))
        if not {"input", "size"} & term.kinds:  # those are told apart otherwise
            state.decided[term] = outcome

    def call(self, state: _State, gas: Word, to: Word, *io: Word, may_write: bool = False) -> Word:
        """Call another contract without coin."""
        if state.targets:
            return self._run_unknown_code(state, *io)
        result = self._call_for_answer(state, "answer", gas, to, *io)
        if may_write and state.returned is not None:
            # It has called nobody back where its answer is known.
            self._decide(state, self.term("answer_known", state.returned), True)
        return result

    def call_with_coin(self, state: _State, gas: Word, to: Word, value: Word, *io: Word) -> Word:
        if value == 0 and not state.targets:
            return self.call(state, gas, to, *io, may_write=True)
        if state.targets:
            state.targets = (*state.targets, self.varies(state, OTHERS))
        return self._run_unknown_code(state, *io)

    def _call_for_answer(self, state: _State, op: str, gas: Word, to: Word, *io: Word) -> Word:
        """Have a contract answer, and on another way fail; what it answers is a term of it and the
        input. With a fixed amount of gas it may do either."""
        start, size, out, out_size = io
        state.calls += 1
        if state.calls > MAX_CALLS:
            raise _Unfollowed
        contract = self._computed(AND, to, _ADDRESS)
        answer = self.term(op, contract, *self._memory_range(state, start, size))
        n = self._number(state, out_size)
        self._steps.take(state.cost)
        other = state.fork()
        other.returned = self.term("failure", answer)
        self._write_term(other, out, n, other.returned)
        other.stack.append(0)
        is_answered = self.term("answered", answer)
        if isinstance(gas, int):
            is_answered = self.varies(state, OTHERS)
        self._decide(other, is_answered, False)
        self._waiting.append(other)
        self._decide(state, is_answered, True)
        state.returned = answer
        if n:  # what is not returned stays as it was: it has to be as long
            self._decide(state, self.term("assumed_least", answer, n), True)
            self._write_term(state, out, n, answer)
        return 1

    def _run_unknown_code(self, state: _State, start: Word, size: Word, *out: Word) -> Term:
        """Run other code, which may do anything."""
        if self._input is not None:
            raise _Unfollowed
        self._expand_memory(state, start, size)
        state.are_stores_known = False
        state.returned = self.varies(state, RETURN if state.targets else OTHERS)
        n = min(self._number(state, out[1]), MAX_MEMORY)
        self._write_term(state, out[0], n, state.returned)
        return state.returned

    def delegate(self, state: _State, gas: Word, to: Word, start: Word, *io: Word) -> Word:
        size, *out = io
        if self._input is not None:
            return self._call_for_answer(state, "delegated", gas, to, start, size, *out)
        at, n = self._expand_memory(state, start, size)
        whole = [(self.term("input"), i) for i in range(state.size)]
        is_enough = not isinstance(gas, int) or gas >= LEAST_GAS
        is_whole = (
            is_enough
            and n >= state.size
            and [*map(state.cells.get, range(at, at + state.size))] == whole
        )
        if is_whole or state.targets:
            if not state.targets and not state.are_stores_known:
                state.targets = (self.varies(state, OTHERS),)
            state.targets = (*state.targets, self._computed(AND, to, _ADDRESS))
            state.calls += 1
            if state.calls > MAX_CALLS:
                raise _Unfollowed
        result = self._run_unknown_code(state, start, size, *out)
        if is_whole:
            state.passed_on = bare(result)[0]
        return result

    def create(self, state: _State, *operands: Word) -> Word:
        if state.targets:
            state.targets = (*state.targets, self.varies(state, OTHERS))
        state.are_stores_known = False
        return self.varies(state, OTHERS)

    def returned_size(self, state: _State) -> Word:
        if state.returned is None:
            return 0
        if state.returned.op == "varies":
            return self.term("returned_size")
        return self.term("answer_size", state.returned)

    def coin(self, state: _State) -> Word:
        return self.term("varies", "the coin that is sent") if self._input is None else 0


def run_within(code: bytes, steps: Steps, input_: bytes | None = None) -> Run:
    """Run code with BUDGET steps, or with those that are left where these are fewer. Raises
    OutOfSteps where more of them might have sufficed."""
    most = max(0, min(BUDGET, steps.left))
    own = Steps(most)
    run = Run(code, own, input_)
    steps.take(most - max(own.left, 0))
    if own.left < 0 and most < BUDGET:
        raise OutOfSteps
    return run


def _remainder_in(term: Term) -> Term | None:
    """Return the remainder of something by a small number of which a term is computed."""
    if term.op == MOD and isinstance(term.args[1], int) and 0 < term.args[1] <= MAX_PLACES:
        return term
    return next(filter(None, map(_remainder_in, inner_terms(term.args))), None)


def _assumed(size: int) -> Values:
    """Return the numbers of sizes: that of the call data, and of what is returned one word."""

    def leaf(term: Term, values: Values) -> int:
        if term.op == "memory_size":
            return int(term.args[0])
        return size if term.op == "size" else 32

    return Values(leaf)


def _moves(word: Word) -> bool:
    """Return whether a place or a size follows from the call data's size."""
    return isinstance(word, Term) and bool(word.kinds & {"size", "memory_size"})


def _distance(one: Word, other: Word, size: int) -> int:
    values = _assumed(size)
    return values.number(one) - values.number(other)


def _of_input(selector: bytes, fill: int) -> Values:
    return Values(lambda term, values: selector + bytes([fill]) * 4096)


def _unknown(what: str, arity: int = 0) -> tuple[int, Any]:
    return arity, lambda run, state, *operands: run.varies(state, what)


def _fixed(what: str, arity: int = 0) -> tuple[int, Any]:
    """Something that is the same during a call."""
    return arity, lambda run, state, *operands: run.term("varies", what, *operands)


# What an instruction does with its operands, the top of the stack first, and pushes.
_INSTRUCTIONS: dict[int, tuple[int, Any]] = {
    0x00: (0, Run.stop),
    0x20: (2, Run.hash),
    0x30: (0, lambda run, state: run.term("address")),
    0x31: _unknown("a balance", 1),
    0x32: _fixed("the sender of the transaction"),
    0x33: (0, lambda run, state: run.term("caller")),
    0x34: (0, Run.coin),
    0x35: (1, Run.load_input),
    0x36: (0, Run.input_size),
    0x37: (3, Run.copy_input),
    0x38: (0, lambda run, state: len(run._code)),
    0x39: (3, Run.copy_code),
    0x3A: _fixed("the gas price"),
    0x3B: _unknown("the code of accounts", 1),
    0x3C: (4, Run.copy_code_of),
    0x3D: (0, Run.returned_size),
    0x3E: (3, Run.copy_returned),
    0x3F: _unknown("the code of accounts", 1),
    0x40: _fixed("a block's hash", 1),
    0x41: _fixed("the block's fee recipient"),
    0x42: _fixed("the block's time"),
    0x43: _fixed("the block's number"),
    0x44: _fixed("the block's randomness"),
    0x45: _fixed("the block's gas limit"),
    0x46: (0, lambda run, state: run.term("chain_id")),
    0x47: _unknown("a balance"),
    0x48: _fixed("the block's base fee"),
    0x49: _fixed("the transaction's blobs", 1),
    0x4A: _fixed("the block's blob base fee"),
    0x50: (1, lambda run, state, value: None),
    0x51: (1, Run.load),
    0x52: (2, Run.store),
    0x53: (2, Run.store_byte),
    0x54: (1, Run.load_slot),
    0x55: (2, Run.store_slot),
    0x56: (1, Run.jump),
    0x57: (2, Run.jump_if),
    0x58: (0, lambda run, state: state.position - 1),
    0x59: (0, lambda run, state: run.term("memory_size", len(state.memory))),
    0x5A: _unknown("the gas that is left"),
    0x5B: (0, Run.jump_destination),
    0x5C: _unknown("transient storage", 1),
    0x5D: (2, lambda run, state, slot, value: None),
    0x5E: (3, Run.copy_memory),
    **{0xA0 + n: (2 + n, lambda run, state, *operands: None) for n in range(5)},
    0xF0: (3, Run.create),
    0xF1: (7, Run.call_with_coin),
    0xF2: (7, lambda run, state, gas, to, value, *io: run.delegate(state, gas, to, *io)),
    0xF3: (2, Run.stop),
    0xF4: (6, Run.delegate),
    0xF5: (4, Run.create),
    0xFA: (6, Run.call),
    0xFF: (1, lambda run, state, to: run.stop(state)),
}
_WRITES = frozenset({0x55, 0xF0, 0xF5, 0xFF})  # which fail in a call that may not write
