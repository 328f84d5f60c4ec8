"""Tracers in JavaScript that a node calls at each step of a transaction, bounded in time.

geth ends a tracer after the time-out of its options; anvil ignores that, goes on when nobody waits
any more, and serves no other request meanwhile. So a tracer ends itself.
"""

from typing import Any

TIMEOUT = "3s"  # of geth, which by default goes on for 5 s
TOO_SLOW = "too slow"  # the result of a tracer that ended itself, or what it throws
LEAST_STEPS = 20_000  # whatever they take: 0.2 s of anvil, on a busy machine 1 s
_STEPS = 64  # after which the time is looked at again
MOST_GAS = 2**53 - 1  # exact in JavaScript
MOST_STEPS = 2**31 - 1  # offsets, depths and numbers of calls
_STEP, _RESULT = "step: function(log, db) {", "result: function(context, db) {"


def bounded(source: str, most_ms: int, **bounds: int) -> dict[str, Any]:
    """Return the options of a tracer that runs `source`, an object with the functions step and
    result, for at most `most_ms`, or LEAST_STEPS. `bounds` are numbers by their names in it.

    Where step throws, anvil ends a call alone, whose caller may go on: so each later step does.
    """
    is_time = f"++this.stepped > {LEAST_STEPS} && this.stepped % {_STEPS} === 0"
    late = f"{is_time} && Date.now() - this.began > {most_ms}"
    stop = f"if (this.late || (this.late = {late})) throw '{TOO_SLOW}';"
    text = source.replace("{", "{ stepped: 0, late: false, began: Date.now(),", 1)
    text = text.replace(_STEP, f"{_STEP} {stop}")
    text = text.replace(_RESULT, f"{_RESULT} if (this.late) return '{TOO_SLOW}';")
    for name, value in bounds.items():
        text = text.replace(name, str(value))
    return {"tracer": " ".join(text.split()), "timeout": TIMEOUT}


def whole_number(value: object, most: int) -> int:
    """Return a number of a tracer's result or of a step, from 0 to `most`; JavaScript has one type
    of numbers. Raises ValueError for another value."""
    if not isinstance(value, int | float) or not 0 <= value <= most:
        raise ValueError("a number of the trace is not one, or out of its range")
    return int(value)
