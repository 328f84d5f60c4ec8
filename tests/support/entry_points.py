"""Entry points (ERC-4337) where they are on every chain, and operations of their simple accounts.

The contracts are those that their authors publish, compiled.
"""

import re
from collections import namedtuple

import pytest
from eth_account import Account
from eth_account.messages import encode_defunct

from app import create_app
from tests.support import anvil, indexing, solidity
from tests.support.serving import NOWHERE

ADDRESSES = {
    "0.6": "0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789",
    "0.7": "0x0000000071727De22E5E9d8BAf0edAc6f37da032",
    "0.8": "0x4337084D9E255Ff0702461CF8895CE9E3b5Ff108",
}
BUNDLE_GAS = 5_000_000
CALL_GAS, VERIFICATION_GAS, PAYMASTER_GAS = 200_000, 600_000, 100_000
PRICE_WEI = 2_000_000_000


def _published(version, name):
    return solidity.published(name, f"entry-point-{version}/artifacts/{name}.json")


class Account4337(namedtuple("Account4337", "address owner init_code")):
    """An account, which may not be deployed yet. `owner`: its key."""


class EntryPoint:
    """An entry point with a factory of simple accounts."""

    def __init__(self, node, version):
        self.node, self.version = node, version
        self.sender = node.accounts[0]
        deployed = node.deploy(self.sender, _published(version, "EntryPoint"))
        self.contract = anvil.Contract(ADDRESSES[version].lower(), deployed.artifact)
        self._move(deployed)
        factory = _published(version, "SimpleAccountFactory")
        self.factory = node.deploy(self.sender, factory, self.contract.address)

    def account(self, number, *, deposit_wei=10**18):
        owner = Account.from_key(number.to_bytes(32))
        address = self.node.read(self.factory, "getAddress", owner.address, 0)
        creation = self.factory.data("createAccount", owner.address, 0)
        init_code = bytes.fromhex(self.factory.address[2:] + creation[2:])
        if deposit_wei:
            self.deposit(address, deposit_wei)
        return Account4337(address, owner, init_code)

    def deposit(self, address, amount_wei):
        self.node.receipt_of(
            self.node.transact(self.sender, self.contract, "depositTo", address, value=amount_wei)
        )

    def operation(self, account, call_data, nonce, *, paymaster=None):
        """A signed one. It deploys its account where the node has no code there."""
        is_new = self.node.call("eth_getCode", account.address, "latest") == "0x" and nonce == 0
        before = (
            account.address,
            nonce,
            account.init_code if is_new else b"",
            bytes.fromhex(call_data[2:]),
        )
        paid = b"" if paymaster is None else bytes.fromhex(paymaster[2:])
        if self.version == "0.6":
            gas = (CALL_GAS, VERIFICATION_GAS, 50_000, PRICE_WEI, PRICE_WEI)
        else:
            gas = (_pair(VERIFICATION_GAS, CALL_GAS), 50_000, _pair(PRICE_WEI, PRICE_WEI))
            paid += _pair(PAYMASTER_GAS, PAYMASTER_GAS) if paid else b""
        unsigned = (*before, *gas, paid, b"")
        hash_ = self.hash(unsigned)
        if self.version == "0.8":
            signature = account.owner.unsafe_sign_hash(hash_).signature
        else:
            signature = account.owner.sign_message(encode_defunct(hash_)).signature
        return (*unsigned[:-1], bytes(signature))

    def hash(self, operation):
        return bytes(self.node.read(self.contract, "getUserOpHash", operation))

    def bundle(self, *operations):
        """The call of a bundle; what is left of fees goes to nobody in particular."""
        return self.contract.data("handleOps", operations, "0x" + "be" * 20)

    def send(self, *operations, bundler=1):
        return self.node.send(
            self.node.accounts[bundler],
            self.contract.address,
            data=self.bundle(*operations),
            gas=BUNDLE_GAS,
            maxFeePerGas=PRICE_WEI,
            maxPriorityFeePerGas=PRICE_WEI // 2,
        )

    def execute(self, to, data, value=0):
        """Call data of an account that makes a call."""
        account = anvil.Contract(to, _published(self.version, "SimpleAccount"))
        return account.data("execute", to, value, bytes.fromhex(data[2:]))

    def execute_batch(self, calls):
        account = anvil.Contract(ADDRESSES[self.version], _published(self.version, "SimpleAccount"))
        targets, values, data = zip(*calls, strict=True)
        inputs = [bytes.fromhex(text[2:]) for text in data]
        if self.version == "0.6":
            return account.data("executeBatch", targets, inputs)
        if self.version == "0.7":
            return account.data("executeBatch", targets, values, inputs)
        return account.data("executeBatch", [*zip(targets, values, inputs, strict=True)])

    def _move(self, deployed):
        """With what its constructor stored in its code; 0.8's creator of accounts knows it, too."""
        code = self.node.call("eth_getCode", deployed.address, "latest")
        self.node.call("anvil_setCode", self.contract.address, code)
        if self.version == "0.8":
            creator = self.node.read(deployed, "senderCreator")
            code = self.node.call("eth_getCode", creator, "latest")
            moved = code.replace(deployed.address[2:], self.contract.address[2:])
            self.node.call("anvil_setCode", creator, moved)


def _pair(high, low):
    return high.to_bytes(16) + low.to_bytes(16)


@pytest.fixture(scope="module")
def application():
    return create_app(indexing.settings_for("postgresql://nobody@127.0.0.1:1/nothing", NOWHERE))


def path_of(rule):
    values = {"address": f"0x{'12' * 20}", "chain_id": "1"}
    return re.sub(r"<(?:\w+:)?(\w+)>", lambda m: values.get(m[1], "1"), rule.rule)


BODIES = {
    "values": b"[" + b"{}," * 40_000 + b"{}]",
    "levels": b'{"a":' + b"[" * 500 + b"]" * 500 + b"}",
    "digits": b'{"a":' + b"9" * 1001 + b"}",
}
