"""A node that lies: one field of one answer has another value, of any method that it is asked."""

import random
from collections import namedtuple

from tests.support.faulty_node import Reply

OF_BLOCKS = ("eth_getBlockByNumber", "eth_getBlockReceipts")
# Few, since all that a node says is refused until its head and its chain are right again.
OF_THE_CHAIN = ("eth_blockNumber", "eth_chainId")
SHARE_OF_THE_CHAIN = 0.02


Lie = namedtuple("Lie", "method parameters path true told")


class LyingNode:
    """A Fault: a share of answers have another value in one field, drawn by a seed; of blocks and
    receipts all but those of the blocks `spared`, of which hashes prove nothing. Fields that are
    `truthful` have none."""

    def __init__(self, seed, share, *, spared=(), methods=None, truthful=()):
        self.told = []
        self._dice = random.Random(seed)
        self._share = share
        self._spared = {hex(number) for number in spared}
        self._methods = methods
        self._truthful = truthful

    def __call__(self, calls, forward):
        answers = forward(calls)
        for call, answer in zip(calls, answers, strict=True):
            share = SHARE_OF_THE_CHAIN if call["method"] in OF_THE_CHAIN else self._share
            is_lied_about = self._methods is None or call["method"] in self._methods
            if is_lied_about and "result" in answer and self._dice.random() < share:
                self._lie(call, answer)
        return Reply(body=answers)

    def _lie(self, call, answer):
        if self._spared.intersection(map(str, call["params"])):
            return
        container, key, path = answer, "result", []
        while isinstance(container[key], dict | list) and container[key]:
            if path and self._dice.random() < 0.1:
                break  # the whole list or object
            container = container[key]
            keys = [*container] if isinstance(container, dict) else [*range(len(container))]
            key = self._dice.choice(keys)
            path.append(key)
        if _number(container) in self._spared or key in self._truthful:
            return
        true = container[key]
        false = self._other(true)
        if false != true:
            container[key] = false
            self.told.append(Lie(call["method"], call["params"], tuple(path), true, false))

    def _other(self, value):
        dice = self._dice
        if dice.random() < 0.15:
            return dice.choice((None, "0x", "0x0", [], {}, "", 1, "0x01", "no hex"))
        if isinstance(value, bool) or value is None:
            return dice.choice((True, False, None, "0x1", f"0x{dice.getrandbits(160):040x}"))
        if isinstance(value, list):
            return dice.choice((value[1:], [*value, *value[:1]], value[::-1], []))
        if isinstance(value, dict):
            return dice.choice((None, {}, dict([*value.items()][1:])))
        if isinstance(value, int) or not value.startswith("0x") or len(value) < 3:
            return dice.choice(("0x1", "0x2a", "another", 7))
        return self._other_hex(value[2:])

    def _other_hex(self, digits):
        """Another value of the same size, or one more or less of it."""
        dice = self._dice
        if len(digits) < 40 and dice.random() < 0.5:
            return hex(max(0, int(digits, 16) + dice.choice((-1, 1))))
        at = dice.randrange(len(digits))
        digit = dice.choice([d for d in "123456789abcdef" if d != digits[at]])
        return f"0x{digits[:at]}{digit}{digits[at + 1 :]}"


def _number(record):
    """Return the number of the block that a record is of."""
    if not isinstance(record, dict):
        return ""
    return str(record.get("blockNumber") or record.get("number") or "")
