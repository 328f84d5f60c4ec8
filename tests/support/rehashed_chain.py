"""Blocks of another chain as its nodes return them: a proxy before anvil, whose headers get more
fields, and with that other hashes, which are computed here.
"""

import rlp
from eth_utils import decode_hex, keccak

from tests.support import faulty_node, renamed_hashes
from tests.support.chain_forms.encoding import HEADER_FIELDS

OLDEST = HEADER_FIELDS[:15]
QUANTITIES = """
    difficulty number gasLimit gasUsed timestamp baseFeePerGas extDataGasUsed blockGasCost
    blobGasUsed excessBlobGas slotNumber
""".split()


def field(header, name):
    text = header[name]
    return int(text, 16) if name in QUANTITIES else decode_hex(text)


def hash_of(header, fields):
    return "0x" + keccak(rlp.encode([field(header, name) for name in fields])).hex()


class RehashedChain:
    """A Fault: `alter` makes headers of the chain, up to a head where one is given, from anvil's;
    their hash covers `fields`."""

    def __init__(self, node, alter, fields, head=None):
        self.headers = []
        self._hashes = renamed_hashes.RenamedHashes()
        for number in range((node.head() if head is None else head) + 1):
            block = node.call("eth_getBlockByNumber", hex(number), False)
            header = dict(block)
            if self.headers:
                header["parentHash"] = self.headers[-1]["hash"]
            alter(header)
            header["hash"] = hash_of(header, fields)
            self.headers.append(header)
            self._hashes.add(block["hash"], header["hash"])

    def __call__(self, calls, forward):
        answers = self._hashes.ask(calls, forward)
        for call, answer in zip(calls, answers, strict=True):
            result = answer.get("result")
            if call["method"].startswith("eth_getBlockBy") and result:
                own = self.headers[int(result["number"], 16)]
                result |= {name: own[name] for name in own if name != "transactions"}
        return faulty_node.Reply(body=answers)
