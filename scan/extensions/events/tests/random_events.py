"""Random events of all types of the ABI, and logs of them as contracts emit them, encoded by
eth_abi. Nothing of Scan's is imported."""

from decimal import Decimal
from pathlib import Path

from eth_abi import encode, grammar
from eth_utils import keccak
from eth_utils.abi import abi_to_signature as signature
from eth_utils.abi import collapse_if_tuple as canonical

from tests.support.database import execute
from tests.support.scan_command import scan
from tests.support.solidity import compile_standard

WORDS = "owner to amount id memo data flags path order nested value sender asset when".split()
ELEMENTARY = (
    "uint256 uint8 uint64 uint128 uint16 int256 int8 int40 address bool bytes32 bytes1 bytes20"
    " bytes string"
).split()


class Events:
    """A generator of events and logs by one random.Random."""

    def __init__(self, random):
        self.random = random

    def type_of(self, depth=0):
        """A type as an ABI's JSON has it, with a name to be added."""
        draw = self.random.random()
        if depth < 4 and draw < 0.12:
            count = self.random.randrange(1, 4)
            names = self.random.sample(WORDS, count)
            return {
                "type": "tuple" + self.random.choice(["", "", "[]", "[2]"]),
                "components": [{"name": n, **self.type_of(depth + 1)} for n in names],
            }
        base = self.random.choice(ELEMENTARY)
        if depth < 4 and draw < 0.35:
            base += self.random.choice(["[]", "[3]", "[][2]", "[2][]"])
        return {"type": base}

    def event(self, number):
        """An event of up to six arguments, of which up to three are indexed; one in twelve is
        anonymous, each with another number of topics, by which alone they are told apart."""
        is_anonymous = number % 12 == 11
        topics = number // 12 % 5 if is_anonymous else self.random.randrange(4)
        names = self.random.sample(WORDS, self.random.randrange(topics, 7))
        inputs = [{"name": name, **self.type_of(), "indexed": False} for name in names]
        for one in self.random.sample(inputs, topics):
            one["indexed"] = True
        name = f"Event{number}"
        return {"type": "event", "name": name, "inputs": inputs, "anonymous": is_anonymous}

    def value(self, name):
        """A value of a type in the form that eth_abi encodes."""
        random = self.random
        if name.endswith("]"):
            item, _, size = name[:-1].rpartition("[")
            count = int(size) if size else random.choice([0, 1, 2, 5])
            return [self.value(item) for _ in range(count)]
        if name.startswith("("):
            components = grammar.parse(name).components
            return tuple(self.value(component.to_type_str()) for component in components)
        if name.startswith(("uint", "int")):
            bits = int(name.lstrip("uint"))
            least, most = (0, 2**bits) if name[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1))
            return random.choice(
                [least, most - 1, 0, min(7, most - 1), random.randrange(least, most)]
            )
        if name == "address":
            return "0x" + random.randbytes(20).hex()
        if name == "bool":
            return random.random() < 0.5
        if name == "string":
            return "".join(
                random.choice('aZ 9_é€𝄞"\\\n\t') for _ in range(random.choice([0, 3, 31, 40]))
            )
        if name == "bytes":
            return random.randbytes(random.choice([0, 1, 32, 45]))
        return random.randbytes(int(name.removeprefix("bytes")))

    def log(self, event, **given):
        """The topics and data of a log of an event, and what decoders say of its arguments: numbers
        as decimal texts, bytes as hex, of a topic that is a hash this hash. Values that are not
        given by the arguments' names are random."""
        topics = [] if event["anonymous"] else [keccak(text=signature(event))]
        types, values, arguments = [], [], []
        for one in event["inputs"]:
            name = canonical(one)
            value = given.get(one["name"]) or self.value(name)
            if not one["indexed"]:
                types.append(name)
                values.append(value)
                arguments.append(shown(one, name, value))
            elif name in ("bytes", "string") or name[-1] in "])":
                hashed = self.random.randbytes(32)
                topics.append(hashed)
                arguments.append("0x" + hashed.hex())
            else:
                topics.append(encode([name], [value]))
                arguments.append(shown(one, name, value))
        return topics, encode(types, values), arguments


def damaged(random, data):
    """The data of a log with a bit, the end or a word changed, or more behind it."""
    data = bytearray(data)
    offset = random.randrange(len(data)) if data else 0
    match random.randrange(4) if data else 2:
        case 0:
            data[offset] ^= 1 << random.randrange(8)
        case 1:
            del data[offset:]
        case 2:
            data += random.randbytes(32)
        case _:
            word = random.choice([2**255, 0, 32, 2**256 - 1, 2**31, 2**32]).to_bytes(32)
            data[offset // 32 * 32 : offset // 32 * 32 + 32] = word
    return bytes(data)


def shown(one, name, value):
    if name.endswith("]"):
        item, _, _ = name[:-1].rpartition("[")
        inner = {**one, "type": one["type"].rpartition("[")[0]}
        return [shown(inner, item, part) for part in value]
    if name.startswith("("):
        return {
            part["name"]: shown(part, canonical(part), of)
            for part, of in zip(one["components"], value, strict=True)
        }
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return str(value)
    return "0x" + value.hex() if isinstance(value, bytes) else value


def declaration(event):
    """An event as its source declares it."""
    return f"{event['name']}({', '.join(map(declared, event['inputs']))})"


def declared(one):
    type_ = one["type"]
    if type_.startswith("tuple"):
        inner = ", ".join(map(declared, one["components"]))
        type_ = f"({inner}){type_.removeprefix('tuple')}"
    return f"{type_}{' indexed' * one.get('indexed', False)} {one['name']}"


def is_hashed(one):
    return one["indexed"] and (
        one["type"] in ("bytes", "string", "tuple") or one["type"][-1] == "]"
    )


def rows_of(url, view, event, *others):
    """The rows of an event's view in the chain's order: block, other columns and arguments."""
    names = [f'"{one["name"]}{"_hash" if is_hashed(one) else ""}"' for one in event["inputs"]]
    columns = ", ".join(["block_number", *others, *names])
    rows = execute(url, f"SELECT {columns} FROM {view} ORDER BY block_number, log_index")  # noqa: S608
    fixed = 1 + len(others)
    return [
        (*row[:fixed], [str(int(v)) if isinstance(v, Decimal) else v for v in row[fixed:]])
        for row in rows
    ]


def encoded(topics, data):
    """A log in the call data of LogEmitter.sol."""
    return bytes([len(topics)]) + len(data).to_bytes(4) + b"".join(topics) + data


def deploy(anvil):
    """The address of an emitter of logs."""
    code = compile_standard({"LogEmitter.sol": SOURCE})["contracts"]["LogEmitter.sol"]
    creation = "0x" + code["LogEmitter"]["evm"]["bytecode"]["object"]
    sent = anvil.send(anvil.accounts[0], None, data=creation, gas=1_000_000)
    return anvil.receipt_of(sent)["contractAddress"]


def emit(anvil, emitter, calldata):
    """Hands a transaction to the pool in which an emitter emits logs."""
    anvil.send(anvil.accounts[0], emitter, data="0x" + calldata.hex(), gas=5_000_000)


PER_TRANSACTION, PER_BLOCK = 10, 200
SOURCE = Path(__file__).with_name("LogEmitter.sol").read_text(encoding="utf-8")


class Contract:
    """A contract that emits random logs of random events, and what its views are to have."""

    def __init__(self, anvil, random, events):
        self._anvil = anvil
        self._random = random
        self._events = Events(random)
        self.abi = [self._events.event(number) for number in range(events)]
        self.address = deploy(anvil)
        self.logs = []  # block number, index of the event, arguments

    def emit(self, logs):
        """Logs in as many blocks as they need."""
        while logs:
            of_block = []
            while logs and len(of_block) < PER_BLOCK:
                calldata = b""
                for _ in range(min(PER_TRANSACTION, logs)):
                    number = self._random.randrange(len(self.abi))
                    topics, data, arguments = self._events.log(self.abi[number])
                    calldata += encoded(topics, data)
                    of_block.append((number, arguments))
                    logs -= 1
                emit(self._anvil, self.address, calldata)
            self._anvil.mine()
            block = self._anvil.head()
            self.logs += [(block, number, arguments) for number, arguments in of_block]

    def expected(self, number):
        return [(block, arguments) for block, n, arguments in self.logs if n == number]


def add(url, address, abi):
    done = scan("events", "add", address, "--abi", str(abi), "--name", "emitter", DATABASE_URL=url)
    assert done.returncode == 0, done.stderr
