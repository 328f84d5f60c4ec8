"""A node that answers late, and requests that wait for it."""

import time
from itertools import count
from threading import Event

from tests.support.faulty_node import FaultyNode, Reply

PATIENCE_S = 60.0


class SlowNode(FaultyNode):
    """Answers after `delay_s`, and holds calls of `held_methods` while `held` is cleared."""

    def __init__(self, upstream):
        super().__init__(upstream)
        self.delay_s = 0.0
        self.held = Event()
        self.held.set()
        self.held_methods = {"eth_getBalance"}
        self.waiting = 0
        self.fault = self._answer

    def _answer(self, calls, forward):
        time.sleep(self.delay_s)
        if any(call["method"] in self.held_methods for call in calls):
            self.waiting += 1
            self.held.wait(PATIENCE_S)
            self.waiting -= 1
        return Reply(body=forward(calls))


_numbers = count(1)


def new_address():
    """The path of a balance of which nobody has asked before, and for which a request waits as
    long as it may wait at all: the tests' machine may be busy."""
    return f"/api/v1/addresses/0x{next(_numbers):040x}?block=1"
