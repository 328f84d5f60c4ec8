"""Gnosis and Avalanche from node to history: every balance is explained, every block compared."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import rlp
from eth_keys import keys
from eth_utils import keccak

from app import create_app
from tests.extensions.audit import auditing
from tests.support.anvil import Anvil
from tests.support.chain_forms.made_chain import HEADER_FIELDS, list_root
from tests.support.database import execute
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing
from tests.support.rehashed_chain import OLDEST, RehashedChain, field

Json = dict[str, Any]
BLOCKS = 5
COLLECTOR, VALIDATOR = "0x6bbe78ee9e474842dbd4ab4987b3cefe88426a92", "0x" + "d4" * 20
BLOBS = ("blobGasUsed", "excessBlobGas", "parentBeaconBlockRoot")


def played(chain_id: int) -> Iterator[Anvil]:
    with Anvil("--chain-id", str(chain_id)) as node:
        for number in range(BLOCKS):
            node.send(node.accounts[0], node.accounts[1], value=number + 1)
            if number % 2:
                node.send(node.accounts[1], VALIDATOR, value=5)
            node.mine()
        yield node


def base_fees(header: Json) -> int:
    return int(header["baseFeePerGas"], 16) * int(header["gasUsed"], 16)


def with_withdrawal(header: Json) -> None:
    """In one block; the others list none."""
    if header["number"] == "0x3":
        fields = {"index": "0x7", "validatorIndex": "0x2a", "address": VALIDATOR, "amount": "0x9"}
        header["withdrawals"] = [fields]
        values = [7, 42, bytes.fromhex(VALIDATOR[2:]), 9]
        header["withdrawalsRoot"] = "0x" + list_root([rlp.encode(values)]).hex()


def everything_adds_up(client: Any, node: Anvil, *others: str) -> None:
    addresses = [*node.accounts[:2], VALIDATOR, COLLECTOR, "0x" + "00" * 20, *others]
    for address in addresses:
        page = client.get(f"/api/v1/addresses/{address}/history?limit=100").json
        assert (page["complete"], page["unexplained"]) == (True, "0"), (address, page)


class Clique:
    """Blocks sealed by one of two keys (EIP-225), which get the tips that anvil gives to nobody."""

    FIELDS = (*OLDEST, "baseFeePerGas")

    def __init__(self, node: Anvil) -> None:
        self.keys = [keys.PrivateKey(bytes([byte]) * 32) for byte in (1, 2)]
        self._node = node

    def signer_of(self, header: Json) -> keys.PrivateKey:
        return self.keys[int(header["number"], 16) % 2]

    def seal(self, header: Json) -> None:
        later = ("withdrawals", "withdrawalsRoot", "requestsHash", *BLOBS)
        header |= dict.fromkeys(later) | {"difficulty": "0x2", "extraData": "0x" + "ab" * 32}
        header["mixHash"] = "0x" + "00" * 32
        encoded = rlp.encode([field(header, name) for name in self.FIELDS])
        seal = self.signer_of(header).sign_msg_hash(keccak(encoded)).to_bytes()
        header["extraData"] += seal.hex()

    def tips(self, header: Json) -> dict[str, int]:
        receipts = self._node.call("eth_getBlockReceipts", header["number"])
        paid = sum(int(r["gasUsed"], 16) * int(r["effectiveGasPrice"], 16) for r in receipts)
        tips = paid - base_fees(header)
        signer = self.signer_of(header).public_key.to_address()
        return {signer: tips, "0x" + "00" * 20: -tips}


@pytest.fixture(scope="module")
def gnosis() -> Iterator[Anvil]:
    yield from played(100)


def test_withdrawals_of_gnosis_are_no_coin_and_its_collector_gets_base_fees(
    gnosis, postgres, template, caplog
):
    chain = RehashedChain(
        gnosis, with_withdrawal, HEADER_FIELDS, lambda header: {COLLECTOR: base_fees(header)}
    )
    with (
        FaultyNode(gnosis.url) as node,
        postgres.cloned(template) as url,
        caplog.at_level(logging.WARNING),
    ):
        node.fault = chain
        settings = Indexing(url, node.url).run_until(gnosis.head()).settings
        client = create_app(settings).test_client()
        everything_adds_up(client, gnosis)
        block = client.get("/api/v1/blocks/3").json
        own = {"index": 7, "validatorIndex": 42, "address": VALIDATOR, "amount": "9000000000"}
        assert block["withdrawals"] == [own | {"unit": "mGNO"}]
        assert block["burntFees"] == "0"
        assert "mGNO" in client.get("/block/3").text
        rows = client.get(f"/api/v1/addresses/{VALIDATOR}/history").json
        assert rows["total"] == len(rows["history"])
        assert "withdrawal" not in {row["type"] for row in rows["history"]}
        assert auditing.run(settings, node=True) == 0
    assert not [r.getMessage() for r in caplog.records if "later ones" in r.getMessage()]


def test_who_seals_a_block_of_clique_gets_its_tips(postgres, template, caplog):
    with (
        contextmanager(played)(1337) as anvil,
        FaultyNode(anvil.url) as node,
        postgres.cloned(template) as url,
        caplog.at_level(logging.WARNING),
    ):
        clique = Clique(anvil)
        node.fault = RehashedChain(anvil, clique.seal, clique.FIELDS, clique.tips)
        settings = Indexing(url, node.url).run_until(anvil.head()).settings
        client = create_app(settings).test_client()
        signers = [key.public_key.to_address() for key in clique.keys]
        everything_adds_up(client, anvil, *signers)
        fields = [client.get(f"/api/v1/blocks/{n}").json["chainFields"] for n in (1, 2)]
        assert [own["signer"] for own in fields] == [signers[1], signers[0]]
        assert all(execute(url, "SELECT sum(amount_wei) > 0 FROM credits"))
        assert auditing.run(settings, node=True) == 0
    assert not [r.getMessage() for r in caplog.records if "later ones" in r.getMessage()]
