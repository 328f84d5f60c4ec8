"""Chains in the form of other chains' nodes, as they are documented, through the whole service.

Of each: all blocks are indexed, fees are the documented ones, histories add up to the balances of
all accounts but those that docs/chains.md names.
"""

import logging

import orjson
import pytest

from scan.ethereum.block_hashing import has_its_hash
from scan.ethereum.block_validation import check_body
from scan.ethereum.blocks import BlockJson, ReceiptsJson, read_json
from scan.extensions.chains.tests.rollup import SIGNS, history
from scan.extensions.demo.tests.replaying import served
from tests.support import auditing, database, table_digest
from tests.support.chain_forms import accounts, forms, others
from tests.support.indexing import Indexing, source_of

pytestmark = pytest.mark.thorough


# Whose fees and credits tests/ethereum compares, too.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            n,
            marks=[pytest.mark.long]
            if n in ("bedrock", "ecotone", "celo", "bnb", "gnosis", "madhugiri")
            else [],
        )
        for n in forms.FORMS
    ],
)
def test_a_form_is_indexed_as_it_is_documented(name, database_url, caplog):
    chain = forms.FORMS[name]()
    with caplog.at_level(logging.WARNING), served(chain) as node:
        index = Indexing(database_url, node.url).run_until(chain.head)
        messages = [record.getMessage() for record in caplog.records]
        # What the log says cannot be compared: types that no root is made of, hashes.
        unchecked = {
            "arbitrum": {"type 106", "type 100", "type 101", "type 104", "type 105"},
            "zksync": {"header and hash"},
            "polygon": {"a state sync"},
            "madhugiri": {"type 127"},
        }.get(name, set())
        assert len(messages) == len(unchecked), messages
        assert all(any(part in message for message in messages) for part in unchecked), messages
        client = index.client()
        blocks = client.get("/api/v1/blocks", query_string={"limit": 100}).json["blocks"]
        assert [block["number"] for block in blocks] == [*range(chain.head, -1, -1)]
        for hash_, fee in chain.fees.items():
            record = client.get(f"/api/v1/transactions/0x{hash_.hex()}").json
            assert int(record["fee"]) == fee, record
            fees = {n: int(part) for n, part in record["feeParts"].items() if part is not None}
            assert sum(fees.values()) == fee, record
            is_reported = not fees.keys().isdisjoint(("l1", "operator"))
            assert ("feeParts" in record["unproven"]) is is_reported, record
        whole = {}
        for holder in chain.addresses:
            rows, page = history(client, f"0x{holder.hex()}")
            moved = sum(SIGNS[row["direction"]] * int(row["amount"]) for row in rows)
            is_whole = moved == chain.balance(holder)
            said = (page["complete"], page["unexplained"] in ("0", None), "explanation" in page)
            assert said == (is_whole, is_whole, not is_whole), page  # explained by the chain
            whole[holder] = is_whole
        wrong = {holder for holder, is_whole in whole.items() if not is_whole}
        assert wrong == chain.unknown, {*map(bytes.hex, wrong ^ chain.unknown)}
        assert auditing.run(index.settings, node=True) == 0


def test_withdrawals_of_gnosis_name_their_unit(database_url):
    chain = forms.FORMS["merged_gnosis"]()
    with served(chain) as node:
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        [withdrawal] = client.get("/api/v1/blocks/1").json["withdrawals"]
        assert (withdrawal["amount"], withdrawal["unit"]) == ("9000000000", "mGNO")
        assert "mGNO" in client.get("/block/1").text


def test_a_page_tells_a_fee_in_another_currency(database_url):
    chain = forms.FORMS["celo"]()
    with served(chain) as node:
        index = Indexing(database_url, node.url).run_until(chain.head)
        token = {"address": accounts.address("token for fees"), "type": "BEP20", "symbol": "DLR"}
        database.insert(database_url, "tokens", **token, name="Dollar", decimals=6)
        [(hash_,)] = database.execute(
            database_url,
            "UPDATE transactions SET chain_fields = chain_fields::jsonb || %s::jsonb"
            " WHERE ordinal = (SELECT max(ordinal) FROM transactions) RETURNING hash",
            '{"feeInFeeCurrency": "1500000"}',
        )
        text = index.client().get(f"/tx/0x{bytes(hash_).hex()}").text
    fee = text.partition("<dt>Fee in token</dt>")[2].partition("</div>")[0]
    token = f"/token/0x{accounts.address('token for fees').hex()}"
    assert 'value="1500000">1<' in fee and "DLR" in fee and token in fee


@pytest.mark.check
@pytest.mark.parametrize("name", forms.FORMS)
def test_hash_and_roots_cover_every_field_that_a_form_encodes(name):
    """Of each header, and of transactions and receipts of blocks whose types Scan encodes."""
    chain = forms.FORMS[name]()
    lines = [orjson.loads(line) for line in chain.lines()]
    blocks = [a["result"] for a in lines if a["method"] == "eth_getBlockByNumber"]
    lists = [a["result"] for a in lines if a["method"] == "eth_getBlockReceipts"]
    bodies = [*zip(blocks, lists, strict=True)]

    def contradiction(block, receipts):
        read = read_json(block, BlockJson, 1), read_json(receipts, ReceiptsJson, 1)
        return check_body(*read, chain_id=chain.chain_id).contradiction

    def require_covered(block, receipts, record, fields):
        for field in {*fields} & record.keys():
            before, record[field] = record[field], altered(record[field])
            assert contradiction(block, receipts), field
            record[field] = before

    def types_of(block):
        return {int(transaction["type"], 16) for transaction in block["transactions"]}

    for number, (block, receipts) in enumerate(bodies):
        for field in {*chain.header_fields} & block.keys():
            changed = block | {field: altered(block[field])}
            assert not has_its_hash(read_json(changed, BlockJson, number)), field
        require_covered(block, receipts, block, ("withdrawals",))
    # Of other types the bytes are needed.
    named_types = {0x7F, *range(0x64, 0x79), 0x71, 0xFE, 0xFF}
    # Of transactions that have an encoding, and of chains whose blocks are taken without one.
    covered_types = {*range(5), 0x7B, 0x7D, 0x7E}
    for block, receipts in (b for b in bodies if types_of(b[0]) <= covered_types | named_types):
        assert contradiction(block, receipts) == ""
    covered = [
        body
        for number, body in enumerate(bodies)
        if types_of(body[0]) <= covered_types and number not in chain.state_syncs.values()
    ]
    for block, receipts in covered:
        for own, receipt in zip(block["transactions"], receipts, strict=True):
            type_ = int(own["type"], 16)
            of_receipt = ("status", "logsBloom", *chain.receipt_tails.get(type_, ()))
            require_covered(block, receipts, own, chain.encodings[type_])
            require_covered(block, receipts, receipt, of_receipt)


def altered(value):
    """Another value of the same form."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, list):
        return [*value, {"address": f"0x{1:040x}", "storageKeys": []}]
    text = "0x0" if value in (None, "0x") else str(value)
    return text[:-1] + ("2" if text[-1] == "1" else "1") if value != "0x" else "0x07"


def test_a_ticket_and_its_redemptions_name_each_other(database_url):
    chain, counts = forms.FORMS["arbitrum"](), []
    with served(chain) as node:
        client = Indexing(database_url, node.url).run_until(chain.head).client()
        tickets, redeemed = (
            client.get(f"/api/v1/transactions?type={type_}&orderBy=asc").json["transactions"]
            for type_ in (0x69, 0x68)
        )
        for ticket in (ticket["hash"] for ticket in tickets):
            own = [r["hash"] for r in redeemed if r["chainFields"]["ticketId"] == ticket]
            assert client.get(f"/api/v1/transactions/{ticket}").json["redemptions"] == own
            page = client.get(f"/tx/{ticket}").text
            assert all(f"/tx/{hash_}" in page for hash_ in own)
            assert f"/tx/{ticket}" in client.get(f"/tx/{own[0]}").text
            counts.append(len(own))
        assert counts == [1, 2]


def test_a_state_sync_is_in_no_root_and_its_receipt_may_be_apart(clone, template):
    chain = others.polygon()
    apart = frozenset(chain.state_syncs)
    with served(chain, apart=apart) as node, served(chain) as together:
        index = Indexing(clone(template), together.url).run_until(chain.head)
        other = Indexing(clone(template), node.url).run_until(chain.head)
        assert table_digest.digest(other.url) == table_digest.digest(index.url)
        client = index.client()
        for hash_, number in chain.state_syncs.items():
            record = client.get(f"/api/v1/transactions/0x{hash_.hex()}").json
            assert (record["blockNumber"], record["status"], record["fee"]) == (number, True, "0")
            assert record["fromAddress"] == record["toAddress"] == f"0x{0:040x}"
            assert [int(log["address"], 16) for log in record["logs"]] == [0x1010, 0x1001]
        [(block, receipts)] = source_of(node).raw_blocks(2, 2)
        assert check_body(block, receipts, chain_id=chain.chain_id).contradiction == ""
        block.transactions[0].value = "0x77"
        body = check_body(block, receipts, chain_id=chain.chain_id)
        assert body.contradiction == "transactions and transactionsRoot"
