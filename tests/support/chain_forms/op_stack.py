"""Forms of the OP stack; each docstring names where its rules are written."""

from hashlib import sha256

from eth_utils import keccak

from tests.support.chain_forms import accounts, encoding
from tests.support.chain_forms.genesis import ALICE, BOB, CAROL, GENESIS
from tests.support.chain_forms.made_chain import ETH, GWEI, SIGNATURE, MadeChain, word


class OpStack:
    """Deposits, L1's values and fees: specs.optimism.io, protocol/deposits.html, exec-engine.html
    and l1-attributes.html of each fork; Jovian's fees are not made."""

    DEPOSITOR = (0xDEADDEADDEADDEADDEADDEADDEADDEADDEAD0001).to_bytes(20)
    L1_BLOCK = (0x4200000000000000000000000000000000000015).to_bytes(20)
    SEQUENCER = (0x4200000000000000000000000000000000000011).to_bytes(20)
    BASE_FEES, L1_FEES, OPERATOR_FEES = (
        (0x4200000000000000000000000000000000000000 + last).to_bytes(20)
        for last in (0x19, 0x1A, 0x1B)
    )
    PASSER = (0x4200000000000000000000000000000000000016).to_bytes(20)
    SELECTORS = {"bedrock": "015d8eb9", "ecotone": "440a5e20", "isthmus": "098999be"}

    def __init__(self, fork, chain_id=10, base_fees=BASE_FEES):
        self.fork = fork
        self.base_fees = base_fees
        fields = {"miner": self.SEQUENCER, "extraData": bytes(9)}
        if fork == "bedrock":
            fields["extraData"] = b""
        else:
            fields |= {"withdrawalsRoot": encoding.list_root([]), "withdrawals": []}
            fields |= {
                "blobGasUsed": 0,
                "excessBlobGas": 0,
                "parentBeaconBlockRoot": word("beacon"),
            }
        if fork == "isthmus":
            fields |= {"withdrawalsRoot": word("messages"), "requestsHash": sha256(b"").digest()}
        # Nothing is in the storage of the contract of messages yet.
        genesis = {"withdrawalsRoot": encoding.list_root([])} if fork == "isthmus" else {}
        self.chain = MadeChain(chain_id, GENESIS, base_fee=GWEI // 100, genesis=genesis, **fields)
        self.chain.encodings[0x7E] = (
            *("sourceHash", "from", "to", "mint", "value", "gas", "isSystemTx", "input"),
        )
        if fork != "bedrock":  # since Canyon
            self.chain.receipt_tails[0x7E] = ("depositNonce", "depositReceiptVersion")

    def play(self):
        for number in range(1, 4):
            self.begin(number)
            self.deposit(accounts.address(f"bridge {number}"), CAROL, mint=ETH, value=ETH)
            # What failed was minted all the same, and its value stays with its sender.
            self.deposit(ALICE, BOB, mint=5, value=9, status=0)
            self.pay(ALICE, BOB, number)
            self.pay(BOB, CAROL, 2, type=0, input=bytes(number) + b"data")
            self.chain.mine()
        return self.chain

    def begin(self, number):
        l1_block = (900 + number, 1_700_000_000, 20 * GWEI, word("L1 block"))
        if self.fork == "bedrock":
            words = (*l1_block, 0, word("batcher"), 188, 684_000)
            call = b"".join(w if isinstance(w, bytes) else w.to_bytes(32) for w in words)
        else:
            at, time, base_fee, hash_ = l1_block
            call = (1368).to_bytes(4) + (810_949).to_bytes(4) + bytes(8)
            call += time.to_bytes(8) + at.to_bytes(8) + base_fee.to_bytes(32)
            call += (3).to_bytes(32) + hash_ + word("batcher")
            if self.fork == "isthmus":
                call += (2_000_000).to_bytes(4) + (7).to_bytes(8)
        data = bytes.fromhex(self.SELECTORS[self.fork]) + call
        self.deposit(self.DEPOSITOR, self.L1_BLOCK, data=data, gas_used=46_000)

    def deposit(self, sender, to, *, mint=0, value=0, status=1, data=b"", gas_used=21_000):
        chain, nonce = self.chain, self.chain.next_nonce(sender)
        chain.move(None, sender, mint)
        if status:
            chain.move(sender, to, value)
        receipt = {"status": status, "gasUsed": gas_used, "effectiveGasPrice": 0}
        receipt |= {"depositNonce": nonce}
        if self.fork != "bedrock":
            receipt |= {"depositReceiptVersion": 1}
        source = keccak(sender + nonce.to_bytes(32) + bytes([chain.head % 256]))
        chain.add(
            {"type": 0x7E, "from": sender, "to": to, "mint": mint or None, "value": value}
            | {"sourceHash": source, "gas": 1_000_000, "isSystemTx": False, "input": data}
            | {"gasPrice": 0, "nonce": nonce, "v": 0, "r": 0, "s": 0},
            receipt,
            fee=0,
            trace={} if status else {"error": "execution reverted"},
        )

    def l1_fee(self, data):
        """What a transaction pays for its bytes on L1, with fields of its receipt."""
        fields = {"l1GasUsed": 1600 + len(data), "l1GasPrice": 20 * GWEI}
        if self.fork == "bedrock":
            return fields["l1GasUsed"] * 10**10, fields | {"l1FeeScalar": "0.684"}
        fields |= {"l1BaseFeeScalar": 1368, "l1BlobBaseFeeScalar": 810_949, "l1BlobBaseFee": 3}
        return fields["l1GasUsed"] * 10**8, fields

    def pay(self, sender, to, value, **fields):
        gas_used = fields.pop("gas_used", 21_000)
        l1_fee, receipt = self.l1_fee(fields.get("input", b""))
        operator = 0
        if self.fork == "isthmus":
            operator = gas_used * 2_000_000 // 10**6 + 7
            receipt |= {"operatorFeeScalar": 2_000_000, "operatorFeeConstant": 7}

        def receive(base_fees, tips):
            vaults = (self.base_fees, self.L1_FEES, self.OPERATOR_FEES, self.SEQUENCER)
            for vault, fee in zip(vaults, (base_fees, l1_fee, operator, tips), strict=True):
                self.chain.move(None, vault, fee)

        self.chain.pay(
            sender,
            to,
            value,
            gas_used=gas_used,
            receive=receive,
            more_fee=l1_fee + operator,
            receipt={"l1Fee": l1_fee, **receipt, **fields.pop("receipt", {})},
            **fields,
        )


def bedrock():
    return OpStack("bedrock").play()


def ecotone():
    return OpStack("ecotone").play()


def isthmus():
    return OpStack("isthmus").play()


def celo():
    """CIP-64: core/types/celo_dynamic_fee_tx_v2.go of celo-org/op-geth; base fees go to the fee
    handler, and what is paid in a token moves no coin. Its receipts encode the base fee."""
    stack = OpStack("isthmus", 42220, bytes.fromhex("cd437749e43a154c07f3553504c68fbfd56b8778"))
    chain, token = stack.chain, accounts.address("token for fees")
    chain.encodings[0x7B] = tuple(
        "chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList"
        " feeCurrency yParity r s".split()
    )
    chain.receipt_tails[0x7B] = ("baseFee",)
    for number in range(1, 3):
        stack.begin(number)
        stack.pay(ALICE, BOB, number)
        chain.move(ALICE, BOB, 5)
        price = 3 * GWEI
        chain.add(
            {"type": 0x7B, "from": ALICE, "to": BOB, "value": 5, "gas": 80_000, **SIGNATURE}
            | {"nonce": chain.next_nonce(ALICE), "yParity": 1, "v": 1, "accessList": []}
            | {"maxPriorityFeePerGas": GWEI, "maxFeePerGas": 2 * price, "gasPrice": price}
            | {"feeCurrency": token, "chainId": chain.chain_id},
            {"gasUsed": 71_000, "effectiveGasPrice": price, "l1Fee": 0}
            | ({"baseFee": 2 * GWEI} if number > 1 else {})  # early receipts have none
            | {"l1GasUsed": 1600, "l1GasPrice": 20 * GWEI},
            fee=0,
        )
        chain.mine()
    return chain


def mantle():
    """core/state_transition.go and core/types/deposit_tx.go of mantlenetworkio/op-geth: the fee for
    L1 is within the gas; deposits bring MNT by `mint` and a token by `ethValue`."""
    stack = OpStack("bedrock", 5000)
    chain = stack.chain
    chain.encodings[0x7E] = tuple(
        "sourceHash from to mint value gas isSystemTx ethValue input ethTxValue".split()
    )

    def receive(base_fees, tips):
        chain.move(None, stack.BASE_FEES, base_fees)
        chain.move(None, stack.SEQUENCER, tips)

    for number in range(1, 3):
        sender = accounts.address(f"bridge {number}")
        chain.move(None, sender, 4 * ETH)
        chain.move(sender, CAROL, ETH)
        chain.add(
            {"type": 0x7E, "from": sender, "to": CAROL, "mint": 4 * ETH, "value": ETH, "gas": 9**6}
            | {"sourceHash": word(f"deposit {number}"), "isSystemTx": False, "gasPrice": 0}
            | {"ethValue": 7, "ethTxValue": 0, "r": 0, "s": 0, "v": 0},
            {"gasUsed": 40_000, "effectiveGasPrice": 0, "depositNonce": number},
            fee=0,
        )
        chain.pay(
            ALICE,
            BOB,
            number,
            gas_used=4_000_000,
            receive=receive,
            receipt={"l1Fee": 123_456_789, "l1GasUsed": 1600, "l1GasPrice": 20 * GWEI}
            | {"tokenRatio": 3000},
        )
        chain.mine()
    return chain
