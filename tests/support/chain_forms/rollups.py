"""Forms of rollups; each function's docstring names where its rules are written."""

from hashlib import sha256
from typing import Any

from eth_utils import keccak

from tests.support.chain_forms.made_chain import (
    ETH,
    GWEI,
    SIGNATURE,
    Made,
    MadeChain,
    address,
    hash_of,
    list_root,
    log,
    word,
)

ALICE, BOB, CAROL = address("alice"), address("bob"), address("carol")
GENESIS = {ALICE: 10 * ETH, BOB: ETH}


def _system(number: int) -> bytes:
    return number.to_bytes(20)


def arbitrum() -> MadeChain:
    """arbos/tx_processor.go, arbos/util/transfer.go and arbos/retryables of OffchainLabs/nitro,
    core/types/arb_types.go of OffchainLabs/go-ethereum: deposits, a ticket that is redeemed at
    once, one that fails and is redeemed by hand, an unsigned and a usual transaction."""
    chain = MadeChain(
        42161,
        GENESIS,
        base_fee=GWEI // 10,
        miner=_system(0xA4B000000000000000000073657175656E636572),
        difficulty=1,
        extraData=word("send root"),
        mixHash=(5).to_bytes(8) + (900).to_bytes(8) + (32).to_bytes(8) + bytes(8),
    )
    return _Arbitrum(chain).play()


class _Arbitrum:
    """What ArbOS does; the chain has no account for infrastructure fees."""

    ARBOS = _system(0xA4B05)
    RETRYABLES = _system(0x6E)
    POSTER_FUNDS = _system(0xA4B00000000000000000000000000000000000F6)
    NETWORK = address("network fees")
    REFUNDS, ON_L1 = address("refunds"), address("contract on L1")
    L1_BASE_FEE = 20 * GWEI
    TICKET_CREATED = keccak(text="TicketCreated(bytes32)")
    REDEEM_SCHEDULED = keccak(
        text="RedeemScheduled(bytes32,bytes32,uint64,uint64,address,uint256,uint256)"
    )
    REDEEM = keccak(text="redeem(bytes32)")[:4]

    def __init__(self, chain: MadeChain) -> None:
        self.chain = chain
        self.mock_call = "INVALID"
        chain.unknown = {self.NETWORK, self.POSTER_FUNDS}  # accounts in the state of ArbOS
        chain.encodings |= {
            0x64: ("chainId", "requestId", "from", "to", "value"),
            0x65: ("chainId", "from", "nonce", "gasPrice", "gas", "to", "value", "input"),
            0x68: (
                *("chainId", "nonce", "from", "gasPrice", "gas", "to", "value", "input"),
                *("ticketId", "refundTo", "maxRefund", "submissionFeeRefund"),
            ),
            0x69: (
                *("chainId", "requestId", "from", "l1BaseFee", "depositValue", "gasPrice", "gas"),
                *("retryTo", "retryValue", "beneficiary", "maxSubmissionFee", "refundTo"),
                "retryData",
            ),
            0x6A: ("chainId", "input"),
        }

    def play(self) -> MadeChain:
        self.begin()
        self.pay(ALICE, BOB, 5)
        self.pay(BOB, CAROL, 6, type=0)
        self.mine()
        self.begin()
        self.deposit(ALICE, CAROL, 3 * ETH)
        self.add(
            {"type": 0x65, "from": BOB, "to": CAROL, "value": 7, "gas": 30_000},
            gas_used=21_500,
            value=7,
        )
        self.mine()
        self.begin()
        ticket = self.submit(self.ON_L1, CAROL, 2 * ETH, gas=50_000)
        self.redeem(ticket, gas_used=30_000)
        self.mine()
        self.begin()
        self.mock_call = "CALL"  # as newer nodes give it
        ticket = self.submit(ALICE, BOB, ETH, gas=60_000)
        self.redeem(ticket, gas_used=60_000, status=0)
        self.mine()
        self.begin()
        self.pay(BOB, self.RETRYABLES, 0, gas_used=90_000, input=self.REDEEM + ticket["hash"])
        by_hand = {"gas": 40_000, "refundTo": BOB, "submission_fee": 0}
        self.max_refund = 2**256 - 1
        self.redeem(ticket | by_hand, gas_used=25_000)
        self.mine()
        return self.chain

    def begin(self) -> None:
        """Each block begins with ArbOS' own transaction."""
        number = self.chain.head + 1
        call = keccak(text="startBlock(uint256,uint64,uint64,uint64)")[:4]
        words = (self.L1_BASE_FEE, 900 + number, number, 2)
        self.chain.add(
            {"type": 0x6A, "from": self.ARBOS, "to": self.ARBOS, "gas": 0, "gasPrice": 0}
            | {"input": call + b"".join(n.to_bytes(32) for n in words)}
            | {"chainId": self.chain.chain_id},
            {"gasUsed": 0, "effectiveGasPrice": self.chain.base_fee, "gasUsedForL1": 0},
            fee=0,
        )

    def mine(self) -> None:
        number = self.chain.head + 1
        self.chain.mine(l1BlockNumber=900 + number, sendCount=5, sendRoot=word("send root"))

    def pay(self, sender: bytes, to: bytes, value: int, **fields: Any) -> Made:
        """The tip is not paid, and the part for L1 goes to another account."""
        return self.chain.pay(
            sender,
            to,
            value,
            tip=0,
            receive=self.collect,
            receipt={"gasUsedForL1": 1000, "timeboosted": False},
            **fields,
        )

    def collect(self, base_fees: int, tips: int) -> None:
        for_l1 = 1000 * self.chain.base_fee
        self.chain.move(None, self.POSTER_FUNDS, for_l1)
        self.chain.move(None, self.NETWORK, base_fees - for_l1)

    def add(self, transaction: dict[str, Any], *, gas_used: int, value: int) -> None:
        """One that pays without a signature."""
        fee = gas_used * self.chain.base_fee
        self.chain.move(transaction["from"], None, fee)
        self.chain.move(transaction["from"], transaction["to"], value)
        self.collect(fee, 0)
        priced = {"gasPrice": self.chain.base_fee, "chainId": self.chain.chain_id}
        receipt = {"gasUsed": gas_used, "gasUsedForL1": 1000}
        self.chain.add(
            transaction | priced, receipt | {"effectiveGasPrice": self.chain.base_fee}, fee=fee
        )

    def deposit(self, sender: bytes, to: bytes, value: int) -> None:
        self.chain.move(None, sender, value)
        self.chain.move(sender, to, value)
        minted = {"purpose": "deposit", "from": None, "to": sender, "value": value}
        self.chain.add(
            {"type": 0x64, "from": sender, "to": to, "value": value, "gas": 0, "gasPrice": 0}
            | {"requestId": word("deposit"), "chainId": self.chain.chain_id},
            {"gasUsed": 0, "effectiveGasPrice": self.chain.base_fee, "gasUsedForL1": 0},
            fee=0,
            trace={"beforeEVMTransfers": [minted], "afterEVMTransfers": []},
        )

    def submit(self, sender: bytes, to: bytes, value: int, *, gas: int) -> dict[str, Any]:
        """A ticket, with its first redemption scheduled."""
        base_fee, data = self.chain.base_fee, b"\1\2\3"
        submission_fee = (1400 + 6 * len(data)) * self.L1_BASE_FEE
        paid = {
            "maxSubmissionFee": 2 * submission_fee,
            "gasPrice": 3 * base_fee,
            "depositValue": value + 2 * submission_fee + 3 * base_fee * gas,
        }
        transaction = {
            **{"type": 0x69, "from": sender, "to": self.RETRYABLES, "gas": gas, **paid},
            **{"requestId": word(f"ticket {to.hex()}"), "l1BaseFee": self.L1_BASE_FEE},
            **{"retryTo": to, "retryValue": value, "retryData": data, "beneficiary": sender},
            **{"refundTo": self.REFUNDS, "chainId": self.chain.chain_id, "input": b"\xc9\xf9\x5d"},
        }
        values = [transaction[name] for name in self.chain.encodings[0x69]]
        ticket_id = hash_of(0x69, values)
        transfers = [
            (None, sender, paid["depositValue"]),
            (sender, self.NETWORK, submission_fee),
            (sender, self.REFUNDS, submission_fee),
            (sender, self.escrow(ticket_id), value),
            (sender, self.NETWORK, base_fee * gas),
            (sender, self.REFUNDS, 2 * base_fee * gas),
        ]
        for transfer in transfers:
            self.chain.move(*transfer)
        # Of what the deposit brought, this is left to give back in a redemption.
        self.max_refund = base_fee * gas + submission_fee
        calls = [
            {"type": self.mock_call, "from": source or bytes(20), "to": target, "value": amount}
            | {"gas": 0, "gasUsed": 0, "input": b""}
            for source, target, amount in transfers
        ]
        created = log(self.RETRYABLES, self.TICKET_CREATED, ticket_id)
        self.chain.add(
            transaction,
            {"gasUsed": gas, "effectiveGasPrice": base_fee, "gasUsedForL1": 0, "logs": [created]},
            fee=base_fee * gas,
            trace={"beforeEVMTransfers": [], "afterEVMTransfers": [], "calls": calls},
        )
        return {**transaction, "hash": ticket_id, "submission_fee": submission_fee}

    def redeem(self, ticket: dict[str, Any], *, gas_used: int, status: int = 1) -> None:
        """The redemption that a ticket schedules; its gas was paid with the ticket."""
        chain, base_fee, gas = self.chain, self.chain.base_fee, ticket["gas"]
        sender, to, value = ticket["from"], ticket["retryTo"], ticket["retryValue"]
        escrow, left = self.escrow(ticket["hash"]), base_fee * (gas - gas_used)
        before = [(escrow, sender, value, "escrow"), (None, sender, base_fee * gas, "prepaid")]
        after = [(sender, None, left, "undoRefund")]
        max_refund = self.max_refund
        for amount in (ticket["submission_fee"] if status else 0, left):
            refund = min(amount, max_refund)
            max_refund -= refund
            after += [
                (self.NETWORK, ticket["refundTo"], refund, "refund"),
                (self.NETWORK, sender, amount - refund, "refund"),
            ]
        if not status:
            after.append((sender, escrow, value, "escrow"))
        for source, target, amount, _ in before:
            chain.move(source, target, amount)
        chain.move(sender, None, base_fee * gas)
        if status:
            chain.move(sender, to, value)
        chain.move(None, sender, left)
        for source, target, amount, _ in after:
            chain.move(source, target, amount)
        transfers = [
            [{"from": f, "to": t, "value": v, "purpose": p} for f, t, v, p in part]
            for part in (before, after)
        ]
        failed = {} if status else {"error": "execution reverted"}
        chain.add(
            {"type": 0x68, "from": sender, "to": to, "value": value, "gas": gas}
            | {"gasPrice": base_fee, "ticketId": ticket["hash"], "refundTo": ticket["refundTo"]}
            | {"maxRefund": self.max_refund, "submissionFeeRefund": ticket["submission_fee"]}
            | {"chainId": chain.chain_id, "input": ticket["retryData"]},
            {"status": status, "gasUsed": gas_used, "effectiveGasPrice": base_fee}
            | {"gasUsedForL1": 0},
            fee=base_fee * gas_used,
            trace={"beforeEVMTransfers": transfers[0], "afterEVMTransfers": transfers[1]} | failed,
        )

    def escrow(self, ticket_id: bytes) -> bytes:
        return keccak(b"retryable escrow" + ticket_id)[12:]


class OpStack:
    """Deposits, L1's values and fees: specs.optimism.io, protocol/deposits.html, exec-engine.html
    and l1-attributes.html of each fork; Jovian's fees are not made."""

    DEPOSITOR = _system(0xDEADDEADDEADDEADDEADDEADDEADDEADDEAD0001)
    L1_BLOCK = _system(0x4200000000000000000000000000000000000015)
    SEQUENCER = _system(0x4200000000000000000000000000000000000011)
    BASE_FEES, L1_FEES, OPERATOR_FEES = (
        _system(0x4200000000000000000000000000000000000000 + last) for last in (0x19, 0x1A, 0x1B)
    )
    PASSER = _system(0x4200000000000000000000000000000000000016)
    SELECTORS = {"bedrock": "015d8eb9", "ecotone": "440a5e20", "isthmus": "098999be"}

    def __init__(self, fork: str, chain_id: int = 10, base_fees: bytes = BASE_FEES) -> None:
        self.fork = fork
        self.base_fees = base_fees
        fields = {"miner": self.SEQUENCER, "extraData": bytes(9)}
        if fork == "bedrock":
            fields["extraData"] = b""
        else:
            fields |= {"withdrawalsRoot": list_root([]), "withdrawals": []}
            fields |= {
                "blobGasUsed": 0,
                "excessBlobGas": 0,
                "parentBeaconBlockRoot": word("beacon"),
            }
        if fork == "isthmus":
            fields |= {"withdrawalsRoot": word("messages"), "requestsHash": sha256(b"").digest()}
        # Nothing is in the storage of the contract of messages yet.
        genesis = {"withdrawalsRoot": list_root([])} if fork == "isthmus" else {}
        base_fee = GWEI // 100
        self.chain = MadeChain(chain_id, GENESIS, base_fee=base_fee, genesis=genesis, **fields)
        self.chain.encodings[0x7E] = (
            *("sourceHash", "from", "to", "mint", "value", "gas", "isSystemTx", "input"),
        )
        if fork != "bedrock":  # since Canyon
            self.chain.receipt_tails[0x7E] = ("depositNonce", "depositReceiptVersion")

    def play(self) -> MadeChain:
        for number in range(1, 4):
            self.begin(number)
            self.deposit(address(f"bridge {number}"), CAROL, mint=ETH, value=ETH)
            # What failed was minted all the same, and its value stays with its sender.
            self.deposit(ALICE, BOB, mint=5, value=9, status=0)
            self.pay(ALICE, BOB, number)
            self.pay(BOB, CAROL, 2, type=0, input=bytes(number) + b"data")
            self.chain.mine()
        return self.chain

    def begin(self, number: int) -> None:
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

    def deposit(
        self,
        sender: bytes,
        to: bytes,
        *,
        mint: int = 0,
        value: int = 0,
        status: int = 1,
        data: bytes = b"",
        gas_used: int = 21_000,
    ) -> None:
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

    def l1_fee(self, data: bytes) -> tuple[int, dict[str, Any]]:
        """What a transaction pays for its bytes on L1, and the receipt's fields."""
        gas = sum(16 if byte else 4 for byte in data) + 68 * 16
        if self.fork == "bedrock":
            fee = (gas + 188) * 20 * GWEI * 684 // 1000
            return fee, {"l1GasUsed": gas + 188, "l1GasPrice": 20 * GWEI, "l1FeeScalar": "0.684"}
        scaled = 16 * 1368 * 20 * GWEI + 810_949 * 3
        fields = {"l1GasUsed": gas, "l1GasPrice": 20 * GWEI, "l1BlobBaseFee": 3}
        fields |= {"l1BaseFeeScalar": 1368, "l1BlobBaseFeeScalar": 810_949}
        return gas * scaled // (16 * 10**6 * 16), fields

    def pay(self, sender: bytes, to: bytes, value: int, **fields: Any) -> None:
        gas_used = fields.pop("gas_used", 21_000)
        l1_fee, receipt = self.l1_fee(fields.get("input", b""))
        operator = 0
        if self.fork == "isthmus":
            operator = gas_used * 2_000_000 // 10**6 + 7
            receipt |= {"operatorFeeScalar": 2_000_000, "operatorFeeConstant": 7}

        def receive(base_fees: int, tips: int) -> None:
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


def bedrock() -> MadeChain:
    return OpStack("bedrock").play()


def ecotone() -> MadeChain:
    return OpStack("ecotone").play()


def isthmus() -> MadeChain:
    return OpStack("isthmus").play()


def celo() -> MadeChain:
    """CIP-64: core/types/celo_dynamic_fee_tx_v2.go of celo-org/op-geth; base fees go to the fee
    handler, and what is paid in a token moves no coin. Its receipts encode the base fee."""
    stack = OpStack("isthmus", 42220, bytes.fromhex("cd437749e43a154c07f3553504c68fbfd56b8778"))
    chain, token = stack.chain, address("token for fees")
    chain.encodings[0x7B] = (
        *("chainId", "nonce", "maxPriorityFeePerGas", "maxFeePerGas", "gas", "to", "value"),
        *("input", "accessList", "feeCurrency", "yParity", "r", "s"),
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


def mantle() -> MadeChain:
    """core/state_transition.go and core/types/deposit_tx.go of mantlenetworkio/op-geth: the fee for
    L1 is within the gas; deposits bring MNT by `mint` and a token by `ethValue`."""
    stack = OpStack("bedrock", 5000)
    chain = stack.chain
    chain.encodings[0x7E] = (
        *("sourceHash", "from", "to", "mint", "value", "gas", "isSystemTx", "ethValue", "input"),
        "ethTxValue",
    )
    for number in range(1, 3):
        sender = address(f"bridge {number}")
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
            receive=lambda base_fees, tips: (
                [
                    chain.move(None, vault, fee)
                    for vault, fee in ((stack.BASE_FEES, base_fees), (stack.SEQUENCER, tips))
                ]
                and None
            ),
            receipt={"l1Fee": 123_456_789, "l1GasUsed": 1600, "l1GasPrice": 20 * GWEI}
            | {"tokenRatio": 3000},
        )
        chain.mine()
    return chain


def scroll() -> MadeChain:
    """core/types/l1_message_tx.go and core/state_transition.go of scroll-tech/go-ethereum: messages
    of L1 pay nothing; all else, with the fee for data on L1, goes to one vault."""
    vault = _system(0x5300000000000000000000000000000000000005)
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


def zksync() -> MadeChain:
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


ROLLUPS = (*(arbitrum, bedrock, ecotone, isthmus, celo, mantle, scroll, zksync),)
