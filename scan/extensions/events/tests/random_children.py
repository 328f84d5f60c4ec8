"""Random factories, and logs of the contracts that these name: which are to be in which view.
Nothing of Scan's is imported."""

import json
from collections import namedtuple
from itertools import takewhile

from eth_abi import decode, encode, grammar
from eth_utils import keccak

from scan.extensions.events.tests import random_events
from tests.support.database import execute
from tests.support.scan_command import scan

NAMED = """
    SELECT hex(c.address), f.name, c.block_number FROM followed_children c
    JOIN followed_contracts f ON f.address = c.followed_as
"""
COUNTED = "SELECT address, topic0, logs FROM contract_event_counts"
STORED = "SELECT address, coalesce(topic0, ''), count(*) FROM contract_events GROUP BY 1, 2"
MISCOUNTED = f"({COUNTED} EXCEPT {STORED}) UNION ALL ({STORED} EXCEPT {COUNTED})"
Log = namedtuple("Log", "block index emitter topics data number arguments")


class Rule(namedtuple("Rule", "name factory event argument")):
    """The contracts that an argument of a factory's event names are followed."""

    def child_of(self, topics, data):
        """The contract that a log of the factory names, if any."""
        inputs = self.event["inputs"]
        indexed = [one["name"] for one in inputs if one["indexed"]]
        plain = [one for one in inputs if not one["indexed"]]
        topic0 = keccak(text=random_events.signature(self.event))
        if topics[:1] != [topic0] or len(topics) != 1 + len(indexed):
            return None
        before = takewhile(lambda one: one["name"] != self.argument, plain)
        start = sum(map(head_bytes, before))
        word = data[start : start + 32]
        if self.argument in indexed:
            word = topics[1 + indexed.index(self.argument)]
        return "0x" + word[12:].hex() if len(word) == 32 and not any(word[:12]) else None

    @property
    def declaration(self):
        return random_events.declaration(self.event)


def head_bytes(one):
    """The bytes of an argument before what is of any length."""
    type_ = random_events.canonical(one)
    zeros = bytes(2**20)  # as many as any type of fixed length has
    return 32 if grammar.parse(type_).is_dynamic else len(encode([type_], decode([type_], zeros)))


class Factories:
    """Emitters of random logs: three that name others, one that is followed for itself, and others.
    `rules` are in the order in which they are added; two are of one event."""

    def __init__(self, anvil, random, folder, *, children, events):
        self.anvil, self.random, self.drawn = anvil, random, random_events.Events(random)
        emitters = [random_events.deploy(anvil) for _ in range(4 + children)]
        self.factories, self.own, self.children = emitters[:3], emitters[3], emitters[4:]
        self.itself = {self.own, *self.factories}  # who is followed so
        self.abi = [self.drawn.event(number) for number in range(events)]
        self.abi_file = folder / "abi.json"
        self.abi_file.write_text(json.dumps(self.abi))
        arguments = ("child", "other"), ("child",), ("child",)
        named = [self._naming_event(100 + n, *of) for n, of in enumerate(arguments)]
        self.rules = [
            Rule("first", self.factories[0], named[0], "child"),
            Rule("second", self.factories[1], named[1], "child"),
            Rule("other", self.factories[0], named[0], "other"),
            Rule("third", self.factories[2], named[2], "child"),
        ]
        self.logs = []

    def _naming_event(self, number, *arguments):
        event, random = self.drawn.event(number), self.random
        inputs = event["inputs"]
        for name in arguments:
            is_indexed = sum(one["indexed"] for one in inputs) < 3 and random.random() < 0.5
            one = {"name": name, "type": "address", "indexed": is_indexed}
            inputs.insert(random.randrange(len(inputs) + 1), one)
        return event

    def play(self, logs, per_block=40):
        """Has logs emitted, in as many blocks as they need."""
        while logs > 0:
            block, index = self.anvil.head() + 1, 0
            while logs > 0 and index < per_block:
                is_factory = self.random.random() < 0.2
                emitter = self.random.choice(
                    self.factories if is_factory else [self.own, *self.children]
                )
                calldata = b""
                for _ in range(self.random.randint(1, random_events.PER_TRANSACTION)):
                    log = self._naming_log(emitter) if is_factory else self._log()
                    calldata += random_events.encoded(*log[:2])
                    self.logs.append(Log(block, index, emitter, *log))
                    index, logs = index + 1, logs - 1
                random_events.emit(self.anvil, emitter, calldata)
            self.anvil.mine()

    def _log(self):
        number = self.random.randrange(len(self.abi))
        topics, data, arguments = self.drawn.log(self.abi[number])
        return topics, data, number, arguments

    def _naming_log(self, factory):
        """One in three is not of its event, in some way."""
        random = self.random
        event = random.choice([rule.event for rule in self.rules if rule.factory == factory])
        anybody = [self.own, *self.factories, *2 * self.children]
        given = {name: random.choice(anybody) for name in ("child", "other")}
        topics, data, _ = self.drawn.log(event, **given)
        match random.randrange(12):
            case 0:
                topics = topics[:-1]
            case 1:
                topics = [*topics, random.randbytes(32)][:4]
            case 2:
                data = data[: random.randrange(len(data) + 1)]
            case 3:  # upper bytes of any word
                place = random.randrange(1, len(topics) + 1)
                upper = random.randbytes(12)
                topics[place:] = [upper + topic[12:] for topic in topics[place:]]
                data = b"".join(upper + data[n + 12 : n + 32] for n in range(0, len(data), 32))
        return topics, data, None, None

    def fork(self, depth, logs):
        """Replaces the newest blocks, and has other logs emitted."""
        kept = self.anvil.head() - depth
        self.logs = [log for log in self.logs if log.block <= kept]
        self.anvil.reorganise(depth)
        self.play(logs)

    def named(self):
        """The children, each with the rule and the block by which it is followed."""
        first = {}
        for log in self.logs:
            for rule in self.rules:
                if log.emitter == rule.factory:
                    first.setdefault(rule.child_of(log.topics, log.data), (rule, log.block))
        return {child: of for child, of in first.items() if child not in {None, *self.itself}}

    def expected(self, rule, number):
        """The logs of an event that a rule's view has, or that of who is followed for itself:
        block, index, contract and arguments."""
        named = self.named().items() if rule else [(self.own, (None, 0))]
        followed = {child: block for child, (of, block) in named if of == rule}
        return [
            (log.block, log.index, log.emitter, log.arguments)
            for log in self.logs
            if log.number == number and followed.get(log.emitter, log.block + 1) <= log.block
        ]

    def require(self, url):
        """The contracts that are followed, the counts of logs and the views' rows are what the logs
        say."""
        rows = ((child, of.name, block) for child, (of, block) in self.named().items())
        assert sorted(execute(url, NAMED)) == sorted(rows)
        assert execute(url, MISCOUNTED) == []
        views = [(rule.name, rule) for rule in self.rules]
        views += [("own", None)] if self.own in self.itself else []
        for number, event in enumerate(self.abi):
            for name, rule in views:
                view = f"events.{name}_event{number}"
                rows = random_events.rows_of(url, view, event, "log_index", "contract")
                assert rows == self.expected(rule, number), (name, event)

    def command(self, rule):
        """By which a rule is followed."""
        chosen = ("--children", rule.declaration, "--argument", rule.argument)
        return "events", "add", rule.factory, "--name", rule.name, *chosen, "--abi", self.abi_file

    def add(self, url):
        """Follows what the rules say, and the one emitter for itself."""
        own = "events", "add", self.own, "--name", "own", "--abi", self.abi_file
        for command in (own, *map(self.command, self.rules)):
            self.scan(url, *command)

    def scan(self, url, *command):
        settings = {"DATABASE_URL": url, "RPC_URL": self.anvil.url}
        done = scan(*map(str, command), **settings)
        assert done.returncode == 0, done.stderr
        return done.stdout
