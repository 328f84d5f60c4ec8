"""What the winter of 2026 brought to the OP Stack; docstrings name where the rules are written."""

import rlp

from tests.support.chain_forms import accounts, op_stack
from tests.support.chain_forms.genesis import ALICE, BOB, CAROL
from tests.support.chain_forms.made_chain import ETH, MadeChain

BASE_TIME = (0x4200000000000000000000000000000000000030).to_bytes(20)
BLOCKS_A_SECOND = 5
DENIM_S = 1_793_901_600
ZERO = bytes(20)


def denim():
    """docs.base.org, upgrades/denim/200ms-blocks: each block begins with the deposit of L1's values
    and one of its milliseconds; `timestampMs` follows from it, and is in no header."""
    stack = op_stack.OpStack("isthmus", 8453)
    for number in range(1, 13):
        second, index = divmod(number - 1, BLOCKS_A_SECOND)
        part = index * 1000 // BLOCKS_A_SECOND
        stack.begin(number)
        call = bytes.fromhex("86bdf394") + part.to_bytes(32)
        stack.deposit(stack.DEPOSITOR, BASE_TIME, data=call, gas_used=30_000)
        if number % 3 == 0:
            stack.deposit(accounts.address(f"bridge {number}"), CAROL, mint=ETH, value=ETH)
        stack.pay(ALICE, BOB, number)
        time_s = DENIM_S + second
        stack.chain.mine(timestamp=time_s, timestampMs=1000 * time_s + part)
    return stack.chain


def lagoon():
    """specs/protocol/lagoon/post-exec.md and sdm.md of ethereum-optimism/specs: a block's last
    transaction has the gas that others get back, and nothing else; receipts have what is left."""
    stack = op_stack.OpStack("isthmus")
    for number in range(1, 4):
        stack.begin(number)
        stack.pay(ALICE, BOB, number)
        stack.pay(BOB, CAROL, 2, gas_used=19_000, receipt={"opGasRefund": 2000})
        if number != 2:  # where nobody gets anything back
            _add_refunds(stack.chain, [1, number, [[2, 2000]]])
        stack.chain.mine()
    return stack.chain


def _add_refunds(chain, payload):
    """With the fee for L1 that op-reth gave by mistake (ethereum-optimism/optimism 22941), and the
    empty frame that tracers return of what is never run."""
    frame = {"type": "", "from": ZERO, "to": ZERO, "gas": 0, "gasUsed": 0, "input": b""}
    chain.encodings[0x7D] = ("input",)
    made = chain.add(
        {"type": 0x7D, "from": ZERO, "to": None, "gas": 0, "input": rlp.encode(payload)},
        {"gasUsed": 0, "effectiveGasPrice": 0, "l1Fee": 7, "l1GasUsed": 1600},
        fee=0,
        encoding=payload,
        trace=frame,
    )
    del made.transaction["nonce"]


def sharing_seconds(blocks, blocks_a_second):
    """A chain of Ethereum's form, of which so many blocks share each second, the last one too."""
    chain = MadeChain(987_654, {ALICE: 10 * ETH, BOB: ETH}, genesis={"timestamp": DENIM_S})
    for number in range(1, blocks):
        chain.pay(ALICE, BOB, number)
        chain.mine(timestamp=DENIM_S + number // blocks_a_second)
    return chain


NEW_ROLLUPS = (denim, lagoon)
