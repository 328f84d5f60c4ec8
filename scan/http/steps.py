"""Runs the steps of a request: in the worker's loop while they need not wait, then in a thread."""

from collections.abc import Callable
from concurrent.futures import Future

from scan.errors import Unavailable
from scan.http.request_state import RequestState, Wait
from scan.rate_limits.windows import RateLimitResult, Window, WindowStore
from scan.server.wsgi_responses import WsgiResponse


def advance(state: RequestState, store: WindowStore, *, may_wait: bool) -> WsgiResponse | None:
    """Run the steps of a request to the response, or to None where Flask has to make it.

    Without `may_wait` they stop before the first one that waits, which is then in
    `state.waits_for`; call this again when the wait is over.
    """
    steps, waited_for = state.steps, state.waits_for
    assert steps is not None
    state.waits_for = None
    result = _charge(waited_for.result) if isinstance(waited_for, Future) else None
    try:
        while True:
            step = steps.send(result)
            if isinstance(step, Wait):
                if not may_wait:
                    state.waits_for = step
                    return None
                result = None
            else:
                if store.waits and not may_wait:
                    state.waits_for = store.submit(*step)
                    return None
                result = _charge(store.charge, *step)
    except StopIteration as end:
        response: WsgiResponse | None = end.value
        return response


def _charge(
    charge: Callable[..., RateLimitResult], *windows: Window
) -> RateLimitResult | Unavailable:
    """Return the result of a charge, or the error where there is none."""
    try:
        return charge(*windows)
    except Unavailable as unavailable:
        return unavailable
