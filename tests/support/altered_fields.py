"""A node that alters a field of a block now and then, otherwise than it did before."""

import random

from tests.support import database, faulty_node

# Of transactions, receipts and logs; what blocks with their hash and index is checked always.
ALTERED = set(
    "hash from to value nonce gas gasPrice maxFeePerGas type input maxPriorityFeePerGas"
    " gasUsed cumulativeGasUsed effectiveGasPrice status contractAddress address topics"
    " data logIndex transactions logs withdrawals".split()
)
# Of a block itself, which its hash covers; `number` and `hash` name the block that is asked for.
OF_HEADER = set(
    "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom"
    " difficulty gasLimit gasUsed timestamp extraData mixHash nonce baseFeePerGas"
    " blobGasUsed excessBlobGas parentBeaconBlockRoot withdrawalsRoot requestsHash".split()
)


def _records(result):
    """Blocks, transactions, receipts and logs in a node's answer."""
    for receipt in result if isinstance(result, list) else []:
        if "cumulativeGasUsed" in receipt:
            yield from (receipt, *receipt["logs"])
    if not isinstance(result, dict) or "receiptsRoot" not in result:
        return
    if result["transactions"] and isinstance(result["transactions"][0], dict):
        yield from (result, *result["transactions"])


def _number(record):
    return int(record.get("number") or record["blockNumber"], 16)


def _alter_a_field(record, dice, of_header):
    is_block = "receiptsRoot" in record
    if is_block and record.pop("withdrawals", None) is not None and dice.random() < 0.5:
        return "withdrawals"
    fields = {"transactions", *of_header} if is_block else ALTERED - {"transactions"}
    field = dice.choice(sorted(name for name in fields & record.keys() if record[name]))
    value = record[field]
    if isinstance(value, list):
        record[field] = value[1:]
    elif dice.random() < 0.3:
        del record[field]
    elif len(value) >= 42 or field in ("input", "data"):
        record[field] = "0x" + ("f" if value[2:3] == "0" else "0") + value[3:].ljust(7, "0")
    else:
        record[field] = hex(int(value, 16) ^ 1 if field in ("status", "type") else 7)
    return field


class AlteredFields:
    """A Fault: a share of the answers has another value in one field of one record, which may be
    one `of_header`. None of the blocks that no hash proves, as `honest`, an index of the same
    chain, has them: nothing would show it."""

    def __init__(self, honest, seed, share=0.1, of_header=frozenset()):
        """`honest` is the address of a database."""
        rows = database.execute(honest, "SELECT number FROM blocks WHERE unproven IS NOT NULL")
        self._spared = {number for (number,) in rows}
        self._dice = random.Random(seed)
        self._share = share
        self._of_header = of_header
        self.count = 0
        self._names = set()

    @property
    def is_met(self):
        """Whether a third of the fields were altered at some time."""
        return len(self._names) > len(ALTERED) / 3

    def __call__(self, calls, forward):
        answers = forward(calls)
        for answer in answers:
            records = list(_records(answer.get("result")))
            if records and _number(records[0]) in self._spared:
                continue
            if records and self._dice.random() < self._share:
                record = self._dice.choice(records)
                self._names.add(_alter_a_field(record, self._dice, self._of_header))
                self.count += 1
        return faulty_node.Reply(body=answers)
