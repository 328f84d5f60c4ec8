"""Forms of other chains; each function's docstring names where its rules are written."""

import rlp
from eth_keys import keys
from eth_utils import keccak

from tests.support.chain_forms.accounts import account, address
from tests.support.chain_forms.encoding import HEADER_FIELDS, list_root
from tests.support.chain_forms.genesis import ALICE, BOB, CAROL, GENESIS
from tests.support.chain_forms.made_chain import ETH, GWEI, SIGNATURE, MadeChain, log, word

NOBODY = bytes(20)


class _Bor:
    """core/state_transition.go, core/bor_fee_log.go and core/types/bor_receipt.go of 0xPolygon/bor:
    base fees go to a contract, and tips to who signed the block, whom a log of the coin's contract
    names; a state sync is the last transaction of its block and may bring coin from that contract
    (MRC20.sol of 0xPolygon/pos-contracts)."""

    BURNT_AT = bytes.fromhex("70bca57f4579f58670ab2d18ef16e02c17553c38")
    COIN, RECEIVER = (0x1010).to_bytes(20), (0x1001).to_bytes(20)
    SYSTEM = bytes.fromhex("fffffffffffffffffffffffffffffffffffffffe")
    FEE_LOG = keccak(
        text="LogFeeTransfer(address,address,address,uint256,uint256,uint256,uint256,uint256)"
    )
    COMMITTED = keccak(text="StateCommitted(uint256,bool)")
    DEPOSIT = keccak(text="Deposit(address,address,uint256,uint256,uint256)")

    def __init__(self):
        self.chain = MadeChain(
            137,
            {**GENESIS, self.COIN: 10**28},
            **{"miner": NOBODY, "base_fee": 30 * GWEI, "extraData": bytes(97)},
        )
        # What its contract has is a store that deposits are taken from, by nothing but an event.
        self.chain.unknown = {self.COIN}
        self.signers = [address("signer"), address("other signer")]

    def play(self, *, is_canonical):
        for number in range(1, 5):
            if number != 4:  # which has a state sync alone
                self.pay(ALICE, BOB, number)
                self.pay(BOB, CAROL, 1, type=0)
            if number % 2:
                self.chain.mine()
            else:
                self.sync(number, is_canonical=is_canonical)
        return self.chain

    def pay(self, sender, to, value, **fields):
        chain = self.chain
        signer = self.signers[chain.head % 2]
        tip = 21_000 * GWEI
        words = [_word(self.COIN), _word(sender), _word(signer)]
        amounts = (tip, chain.balances[sender], chain.balances[signer], 0, 0)
        fee_log = log(self.COIN, self.FEE_LOG, *words, data=b"".join(map(_word, amounts)))

        def receive(base_fees, tips):
            chain.move(None, self.BURNT_AT, base_fees)
            chain.move(None, signer, tips)

        chain.pay(sender, to, value, receive=receive, receipt={"logs": [fee_log]}, **fields)

    def sync(self, number, *, is_canonical):
        chain, amount = self.chain, 7 * ETH
        chain.move(self.COIN, CAROL, amount)
        committed = log(self.RECEIVER, self.COMMITTED, _word(number), data=_word(1))
        words = [_word(self.COIN), _word(CAROL)]
        deposit = b"".join(map(_word, (amount, 0, amount)))
        brought = log(self.COIN, self.DEPOSIT, *words, data=deposit)
        transaction = {"from": NOBODY, "to": NOBODY, "gas": 0, "gasPrice": 0, "v": 0, "r": 0}
        transaction |= {"s": 0, "type": 0x7F if is_canonical else 0}
        receipt = {"gasUsed": 0, "effectiveGasPrice": 0, "logs": [brought, committed]}
        if not is_canonical:
            return chain.mine_with_state_sync(transaction, receipt)
        record = [number, self.RECEIVER, deposit, word(f"on Ethereum {number}")]
        root = {"from": self.SYSTEM, "to": self.RECEIVER}
        chain.add(transaction, receipt, fee=0, encoding=[record], trace=root)
        chain.mine()


def _word(value):
    return value.rjust(32, b"\0") if isinstance(value, bytes) else value.to_bytes(32)


def polygon():
    """A state sync is in no root, and its hash is made of its block's."""
    return _Bor().play(is_canonical=False)


def madhugiri():
    """Since this fork a state sync is a transaction with an encoding of its own
    (core/types/state_sync_tx.go), and traced (eth/tracers/api.go)."""
    return _Bor().play(is_canonical=True)


def bnb():
    """consensus/parlia of bnb-chain/bsc: fees collect at the system address, and the validator's
    transactions at the end of a block, at price 0, hand them on to the validators' contract."""
    system = bytes.fromhex("fffffffffffffffffffffffffffffffffffffffe")
    contract, validator = (0x1000).to_bytes(20), address("validator")
    chain = MadeChain(56, GENESIS, miner=validator, base_fee=0, difficulty=2, extraData=bytes(97))
    for number in range(1, 4):
        fees = 0
        for sender, to in ((ALICE, BOB), (BOB, CAROL)):
            fees += chain.pay(sender, to, number, type=0, receive=lambda *_: None).fee
        chain.move(None, system, fees)
        chain.move(system, validator, fees)
        chain.move(validator, contract, fees)
        chain.add(
            {"type": 0, "from": validator, "to": contract, "value": fees, "gas": 2**63 - 1}
            | {"gasPrice": 0, "nonce": chain.next_nonce(validator), "v": 148, "r": 1, "s": 2}
            | {"input": keccak(text="deposit(address)")[:4] + bytes(12) + validator},
            {"gasUsed": 30_000, "effectiveGasPrice": 0},
            fee=0,
        )
        chain.mine(milliTimestamp=1_700_000_000_000 + 750 * number)
    return chain


def avalanche():
    """plugin/evm/customtypes/header_ext.go of ava-labs/coreth: fields of the header; all fees are
    burnt, at the coinbase 0x0100…00."""
    own = "extDataHash baseFeePerGas extDataGasUsed blockGasCost".split()
    fields = (*HEADER_FIELDS[:15], *own, "blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot")
    burnt_at = bytes([1]) + bytes(19)
    chain = MadeChain(
        43114,
        GENESIS,
        miner=burnt_at,
        base_fee=25 * GWEI,
        header_fields=fields,
        extDataHash=word("no atomic transactions"),
        extDataGasUsed=0,
        blockGasCost=0,
    )
    for number in range(1, 4):
        chain.pay(ALICE, BOB, number, receive=lambda b, t: chain.move(None, burnt_at, b + t))
        chain.mine()
    return chain


COLLECTOR = bytes.fromhex("6bbe78ee9e474842dbd4ab4987b3cefe88426a92")


def gnosis():
    """HeaderDecoder.cs of Nethermind: before its merge a header has a step and a signature in place
    of mixHash and nonce; base fees go to a collector."""
    chain = MadeChain(
        100,
        GENESIS,
        header_fields=(*HEADER_FIELDS[:13], "step", "signature", "baseFeePerGas"),
        mixHash=None,
        nonce=None,
        difficulty=2**128 - 2,
        step=333_000_000,
        signature=bytes(65),
    )
    return _collecting(chain)


def merged_gnosis():
    """docs.gnosischain.com: withdrawals are of mGNO, a token, and move no coin."""
    fields = {"withdrawals": [], "withdrawalsRoot": list_root([])}
    chain, validator = MadeChain(100, GENESIS, **fields), address("validator")
    chain.balances[validator] = 0  # whose history is compared
    withdrawal = {"index": 7, "validatorIndex": 42, "address": validator, "amount": 9}
    root = list_root([rlp.encode([7, 42, validator, 9])])
    chain.mine(withdrawals=[withdrawal], withdrawalsRoot=root)
    return _collecting(chain)


def _collecting(chain):
    def receive(base_fees, tips):
        chain.move(None, COLLECTOR, base_fees)
        chain.move(None, chain.miner, tips)

    for number in range(1, 4):
        chain.pay(ALICE, BOB, number, receive=receive)
        chain.mine()
    return chain


def clique():
    """EIP-225: who seals a block gets its tips, and is known by the signature in extraData."""
    chain = MadeChain(1337, GENESIS, miner=NOBODY, difficulty=2)
    signers = [keys.PrivateKey(bytes([number]) * 32) for number in (1, 2)]
    for number in range(1, 5):
        key = signers[number % 2]
        account = key.public_key.to_canonical_address()
        chain.pay(
            ALICE, BOB, number, receive=lambda _, tips, to=account: chain.move(None, to, tips)
        )
        chain.mine_sealed(bytes(32), lambda hash_, key=key: key.sign_msg_hash(hash_).to_bytes())
    return chain


def taiko():
    """core/state_transition.go of taikoxyz/taiko-geth: a block's first transaction pays nothing;
    base fees are divided by extraData, from Ontake to Pacaya and since Shasta."""
    # The protocol's own account, whose key everybody knows.
    golden_touch = account(
        bytes.fromhex("92954368afd3caa1f3ce3ead0069c1af414054aefe1ef9aeacc1bf426222ce38")
    )
    treasury = bytes.fromhex("1670000000000000000000000000000000010001")
    chain = MadeChain(167_000, GENESIS, base_fee=GWEI // 100 + 1)
    for percent, extra_data in (
        (0, b""),
        (50, (50).to_bytes(32)),
        (75, bytes([75]) + (9).to_bytes(6)),
        (75, bytes([75]) + (9).to_bytes(6)),
    ):
        chain.add(
            {"type": 2, "from": golden_touch, "to": treasury, "gas": 1_000_000, **SIGNATURE}
            | {"nonce": chain.next_nonce(golden_touch), "v": 0, "yParity": 0, "accessList": []}
            | {"gasPrice": chain.base_fee, "chainId": chain.chain_id, "maxPriorityFeePerGas": 0}
            | {"maxFeePerGas": chain.base_fee, "input": bytes.fromhex("523e6854")},
            {"gasUsed": 80_000, "effectiveGasPrice": chain.base_fee},
            fee=0,
        )

        def receive(base_fees, tips, percent=percent):
            shared = base_fees * percent // 100
            chain.move(None, chain.miner, tips + shared)
            chain.move(None, treasury, base_fees - shared)

        chain.pay(ALICE, BOB, 1, receive=receive)
        chain.pay(BOB, golden_touch, 10**15, gas_used=21_001, type=0, receive=receive)
        chain.pay(golden_touch, CAROL, 5, receive=receive)
        chain.mine(extraData=extra_data)
    return chain


OTHERS = (polygon, madhugiri, bnb, avalanche, gnosis, merged_gnosis, clique, taiko)
