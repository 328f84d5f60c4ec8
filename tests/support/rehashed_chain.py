"""Blocks of another chain as its nodes return them: a proxy before anvil, whose headers get more
fields, and with that other hashes, which are computed here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import rlp
from eth_utils import keccak

from tests.support.anvil import Anvil
from tests.support.chain_forms.made_chain import HEADER_FIELDS
from tests.support.faulty_node import Calls, Forward, Reply
from tests.support.renamed_hashes import RenamedHashes

Json = dict[str, Any]
OLDEST = HEADER_FIELDS[:15]
QUANTITIES = (
    *("difficulty", "number", "gasLimit", "gasUsed", "timestamp", "baseFeePerGas"),
    *("extDataGasUsed", "blockGasCost", "blobGasUsed", "excessBlobGas", "slotNumber"),
)


def field(header: Json, name: str) -> Any:
    text = header[name]
    return int(text, 16) if name in QUANTITIES else bytes.fromhex(text[2:])


class RehashedChain:
    """A Fault: `alter` makes headers of the chain from anvil's, whose hash covers `fields`;
    `earned` says who gets what in a block, besides what anvil gives."""

    def __init__(
        self,
        node: Anvil,
        alter: Callable[[Json], None],
        fields: Sequence[str],
        earned: Callable[[Json], dict[str, int]],
    ) -> None:
        self.headers: list[Json] = []
        self._hashes = RenamedHashes()
        self._earned: list[dict[str, int]] = []
        for number in range(node.head() + 1):
            block = node.call("eth_getBlockByNumber", hex(number), False)
            header = dict(block)
            if self.headers:
                header["parentHash"] = self.headers[-1]["hash"]
            alter(header)
            encoded = rlp.encode([field(header, name) for name in fields])
            header["hash"] = "0x" + keccak(encoded).hex()
            self.headers.append(header)
            self._hashes.add(block["hash"], header["hash"])
            self._earned.append(earned(header))

    def _earned_until(self, address: str, block: Any) -> int:
        if isinstance(block, dict):
            hashes = [header["hash"] for header in self.headers]
            block = block.get("blockNumber") or hex(hashes.index(block["blockHash"]))
        last = int(block, 16) if block.startswith("0x") else len(self.headers)
        return sum(earned.get(address.lower(), 0) for earned in self._earned[: last + 1])

    def __call__(self, calls: Calls, forward: Forward) -> Reply:
        answers = self._hashes.ask(calls, forward)
        for call, answer in zip(calls, answers, strict=True):
            result = answer.get("result")
            if call["method"].startswith("eth_getBlockBy") and result:
                own = self.headers[int(result["number"], 16)]
                result |= {name: own[name] for name in own if name != "transactions"}
            elif call["method"] == "eth_getBalance" and result:
                answer["result"] = hex(int(result, 16) + self._earned_until(*call["params"]))
        return Reply(body=answers)
