"""Forms of rollups; each function's docstring names where its rules are written."""

from tests.support.chain_forms.accounts import address
from tests.support.chain_forms.arbitrum import arbitrum
from tests.support.chain_forms.genesis import ALICE, BOB, CAROL, GENESIS
from tests.support.chain_forms.made_chain import GWEI, MadeChain, word
from tests.support.chain_forms.op_stack import bedrock, celo, ecotone, isthmus, mantle


def scroll():
    """core/types/l1_message_tx.go and core/state_transition.go of scroll-tech/go-ethereum: messages
    of L1 pay nothing; all else, with the fee for data on L1, goes to one vault."""
    vault = (0x5300000000000000000000000000000000000005).to_bytes(20)
    chain = MadeChain(534352, GENESIS, miner=bytes(20), difficulty=1, base_fee=GWEI // 25)
    chain.encodings[0x7E] = ("queueIndex", "gas", "to", "value", "input", "from")
    for number in range(1, 4):
        chain.move(ALICE, BOB, 3)
        chain.add(
            {"type": 0x7E, "from": ALICE, "sender": ALICE, "to": BOB, "value": 3, "gas": 200_000}
            | {"queueIndex": 40 + number, "gasPrice": 0, "v": 0, "r": 0, "s": 0},
            {"gasUsed": 30_000, "effectiveGasPrice": 0, "l1Fee": 0},
            fee=0,
        )
        chain.pay(
            ALICE,
            CAROL,
            number,
            receive=lambda base_fees, tips: chain.move(None, vault, base_fees + tips + 777),
            more_fee=777,
            receipt={"l1Fee": 777},
        )
        chain.mine()
    return chain


def zksync():
    """docs.zksync.io, zks-rpc and transaction types: fees go to the operator's account; the hash of
    a block is not that of a header."""
    operator = address("operator")
    genesis = {"hash": word("zk block 0")}
    chain = MadeChain(324, GENESIS, miner=bytes(20), base_fee=GWEI // 20, genesis=genesis)
    chain.unknown = {operator}
    for number in range(1, 4):
        own = {"l1BatchNumber": 7, "l1BatchTxIndex": number}
        for type_ in (2, 0x71):
            chain.encodings[0x71] = chain.encodings[2]
            chain.pay(
                ALICE,
                BOB,
                number,
                type=type_,
                tip=0,
                receive=lambda base_fees, tips: chain.move(None, operator, base_fees),
                receipt={**own, "root": word("block")},
                **own,
            )
        chain.mine(hash=word(f"zk block {number}"), l1BatchNumber=7, l1BatchTimestamp=1_700_000_000)
    return chain


ROLLUPS = (arbitrum, bedrock, ecotone, isthmus, celo, mantle, scroll, zksync)
