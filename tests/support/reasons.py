"""A chain of transactions that fail in every way there is, of contracts whose ABIs are stored."""

import json
from collections import namedtuple
from contextlib import contextmanager

from tests.support import database, solidity
from tests.support.anvil import Anvil, Contract, creation_code
from tests.support.indexing import Indexing

GAS = 300_000


class Played(namedtuple("Played", "anvil url client reasons guard sent")):
    """What was sent, by a name of its own; Reasons is verified, and so is the Guard it calls."""


SENT = (
    ("require", "withRequire", (False,)),
    ("silent", "withoutReason", ()),
    ("own error", "ownError", (7,)),
    ("callee's error", "calleesError", (42,)),
    ("caught, then another", "caughtThenOther", ()),
    ("caught, then silent", "caughtThenSilent", ()),
    ("caught, then the next", "afterCaught", ()),
    ("panic 0x11", "overflow", (1,)),
    ("panic 0x12", "divide", (0,)),
    ("panic 0x01", "insist", (False,)),
    ("panic 0x32", "item", (0,)),
    ("out of gas", "burn", ()),
    ("out of gas inside", "burnInside", ()),
    ("silent inside", "silentInside", ()),
    ("invalid opcode", "invalid", ()),
    ("missing inside", "missing", ()),
    ("overspend", "overspend", ()),
    ("overspend, told", "overspendLow", ()),
    ("unknown data", "unknownData", (bytes.fromhex("12345678") + bytes(40),)),
    ("short data", "unknownData", (b"\1\2",)),
    ("empty text", "unknownData", (bytes.fromhex("08c379a0") + (32).to_bytes(32) + bytes(32),)),
    ("bad Error", "unknownData", (bytes.fromhex("08c379a0") + b"\xff" * 40,)),
    ("write", "writeWhileReading", ()),
    ("library", "byLibrary", ("nothing",)),
    ("recurse", "recurse", (5,)),
    ("fine", "fine", (3,)),
)


# Each in a block of its own, so that the node knows the state before and after it.
ALONE = (
    ("alone", "fine", (9,), {}),
    ("clearing", "fine", (0,), {}),
    ("failed alone", "calleesError", (5,), {"gas": GAS}),
    ("wide", "wide", (1100,), {"gas": 12_000_000}),
    ("deep", "recurse", (600,), {"gas": 10**9}),
    ("large", "large", (700_000,), {"gas": 20_000_000}),
    ("speaking", "speak", (4,), {}),
)


@contextmanager
def play_reasons(postgres, template):
    with Anvil("--gas-limit", str(10**10)) as anvil, postgres.cloned(template) as url:
        one = anvil.accounts[0]
        reasons = anvil.deploy(one, "Reasons")
        guard = anvil.read(reasons, "guard")
        sent = {
            name: anvil.transact(one, reasons, function, *args, gas=GAS)
            for name, function, args in SENT
        }
        sent["missing function"] = anvil.send(one, reasons.address, data="0xdeadbeef", gas=GAS)
        sent["not payable"] = anvil.transact(one, reasons, "increase", value=1, gas=GAS)
        sent["creation"] = anvil.send(
            one, None, data=creation_code(solidity.artifact("Unborn"), 77), gas=GAS
        )
        sent["creation of nothing valid"] = anvil.send(one, None, data="0x60ef60005360016000f3")
        sent["payment"] = anvil.send(one, anvil.accounts[1], value=5)
        anvil.mine()
        code = creation_code(solidity.artifact("Reasons"))
        sent["deployment"] = anvil.send(anvil.accounts[2], None, data=code, gas=5_000_000)
        anvil.mine()
        sent["money"] = anvil.send(anvil.accounts[3], anvil.accounts[4], value=123)
        anvil.mine()
        for name, function, args, fields in ALONE:
            sent[name] = anvil.transact(anvil.accounts[1], reasons, function, *args, **fields)
            anvil.mine()
        with Indexing(url, anvil.url, until=anvil.head()) as indexing:
            verify(url, [reasons, Contract(guard, solidity.artifact("Guard"))])
            yield Played(anvil, url, indexing.client(), reasons, guard, sent)


def verify(url, contracts):
    """Stores ABIs as verified; contracts of one code share the first one's."""
    for contract in contracts:
        address = contract.address.lower()
        [(code_hash,)] = database.execute(
            url,
            "SELECT code_hash FROM contracts WHERE address = decode(%s, 'hex')"
            " ORDER BY block_number DESC LIMIT 1",
            address[2:],
        )
        row = {"address": bytes.fromhex(address[2:]), "code_hash": code_hash, "match": "full"}
        row |= {"contract_name": contract.artifact.name, "compiler_version": "0.8.28"}
        database.insert(url, "verified_contracts", **row, abi=json.dumps(contract.artifact.abi))
