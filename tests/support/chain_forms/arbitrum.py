"""The form of Arbitrum."""

from eth_utils import keccak

from tests.support.chain_forms import accounts, encoding
from tests.support.chain_forms.genesis import ALICE, BOB, CAROL, GENESIS
from tests.support.chain_forms.made_chain import ETH, GWEI, MadeChain, log, word


def arbitrum():
    """arbos/tx_processor.go, arbos/util/transfer.go and arbos/retryables of OffchainLabs/nitro,
    core/types/arb_types.go of OffchainLabs/go-ethereum: deposits, a ticket that is redeemed at
    once, one that fails and is redeemed by hand, an unsigned and a usual transaction."""
    chain = MadeChain(
        42161,
        GENESIS,
        base_fee=GWEI // 10,
        miner=(0xA4B000000000000000000073657175656E636572).to_bytes(20),
        difficulty=1,
        extraData=word("send root"),
        mixHash=(5).to_bytes(8) + (900).to_bytes(8) + (32).to_bytes(8) + bytes(8),
    )
    return _Arbitrum(chain).play()


class _Arbitrum:
    """What ArbOS does; the chain has no account for infrastructure fees."""

    ARBOS = (0xA4B05).to_bytes(20)
    RETRYABLES = (0x6E).to_bytes(20)
    POSTER_FUNDS = (0xA4B00000000000000000000000000000000000F6).to_bytes(20)
    NETWORK = accounts.address("network fees")
    REFUNDS, ON_L1 = accounts.address("refunds"), accounts.address("contract on L1")
    L1_BASE_FEE = 20 * GWEI
    TICKET_CREATED = keccak(text="TicketCreated(bytes32)")
    REDEEM = keccak(text="redeem(bytes32)")[:4]

    def __init__(self, chain):
        self.chain = chain
        self.mock_call = "INVALID"
        chain.unknown = {self.NETWORK, self.POSTER_FUNDS}  # accounts in the state of ArbOS
        chain.encodings |= {
            0x64: ("chainId", "requestId", "from", "to", "value"),
            0x65: ("chainId", "from", "nonce", "gasPrice", "gas", "to", "value", "input"),
            0x68: tuple(
                "chainId nonce from gasPrice gas to value input ticketId refundTo"
                " maxRefund submissionFeeRefund".split()
            ),
            0x69: tuple(
                "chainId requestId from l1BaseFee depositValue gasPrice gas retryTo"
                " retryValue beneficiary maxSubmissionFee refundTo retryData".split()
            ),
            0x6A: ("chainId", "input"),
        }

    def play(self):
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

    def begin(self):
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

    def mine(self):
        number = self.chain.head + 1
        self.chain.mine(l1BlockNumber=900 + number, sendCount=5, sendRoot=word("send root"))

    def pay(self, sender, to, value, **fields):
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

    def collect(self, base_fees, tips):
        for_l1 = 1000 * self.chain.base_fee
        self.chain.move(None, self.POSTER_FUNDS, for_l1)
        self.chain.move(None, self.NETWORK, base_fees - for_l1)

    def add(self, transaction, *, gas_used, value):
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

    def deposit(self, sender, to, value):
        minted = self.moved((None, sender, value, "deposit"))
        self.chain.move(sender, to, value)
        self.chain.add(
            {"type": 0x64, "from": sender, "to": to, "value": value, "gas": 0, "gasPrice": 0}
            | {"requestId": word("deposit"), "chainId": self.chain.chain_id},
            {"gasUsed": 0, "effectiveGasPrice": self.chain.base_fee, "gasUsedForL1": 0},
            fee=0,
            trace={"beforeEVMTransfers": minted, "afterEVMTransfers": []},
        )

    def submit(self, sender, to, value, *, gas):
        """A ticket, with its first redemption scheduled."""
        base_fee, data = self.chain.base_fee, b"\1\2\3"
        submission_fee = (1400 + 6 * len(data)) * self.L1_BASE_FEE
        paid = {
            "maxSubmissionFee": 2 * submission_fee,
            "gasPrice": 3 * base_fee,
            "depositValue": value + 2 * submission_fee + 3 * base_fee * gas,
        }
        transaction = {
            "type": 0x69,
            "from": sender,
            "to": self.RETRYABLES,
            "gas": gas,
            **paid,
            "requestId": word(f"ticket {to.hex()}"),
            "l1BaseFee": self.L1_BASE_FEE,
            "retryTo": to,
            "retryValue": value,
            "retryData": data,
            "beneficiary": sender,
            "refundTo": self.REFUNDS,
            "chainId": self.chain.chain_id,
            "input": b"\xc9\xf9\x5d",
        }
        values = [transaction[name] for name in self.chain.encodings[0x69]]
        ticket_id = encoding.hash_of(0x69, values)
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

    def redeem(self, ticket, *, gas_used, status=1):
        """The redemption that a ticket schedules; its gas was paid with the ticket."""
        chain, base_fee, gas = self.chain, self.chain.base_fee, ticket["gas"]
        sender, to, value = ticket["from"], ticket["retryTo"], ticket["retryValue"]
        escrow, left = self.escrow(ticket["hash"]), base_fee * (gas - gas_used)
        prepaid = (None, sender, base_fee * gas, "prepaid")
        before = self.moved((escrow, sender, value, "escrow"), prepaid)
        chain.move(sender, None, base_fee * gas)
        if status:
            chain.move(sender, to, value)
        chain.move(None, sender, left)
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
        failed = {} if status else {"error": "execution reverted"}
        chain.add(
            {"type": 0x68, "from": sender, "to": to, "value": value, "gas": gas}
            | {"gasPrice": base_fee, "ticketId": ticket["hash"], "refundTo": ticket["refundTo"]}
            | {"maxRefund": self.max_refund, "submissionFeeRefund": ticket["submission_fee"]}
            | {"chainId": chain.chain_id, "input": ticket["retryData"]},
            {"status": status, "gasUsed": gas_used, "effectiveGasPrice": base_fee}
            | {"gasUsedForL1": 0},
            fee=base_fee * gas_used,
            trace={"beforeEVMTransfers": before, "afterEVMTransfers": self.moved(*after)} | failed,
        )

    def moved(self, *transfers):
        """Coin that moves outside of calls, each with its purpose, as a trace has it."""
        for source, target, amount, _ in transfers:
            self.chain.move(source, target, amount)
        return [{"from": f, "to": t, "value": v, "purpose": p} for f, t, v, p in transfers]

    def escrow(self, ticket_id):
        return keccak(b"retryable escrow" + ticket_id)[12:]
