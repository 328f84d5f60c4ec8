"""The method that lists of transactions show."""

import pytest
from eth_utils import keccak

from scan.errors import InvalidParameter
from scan.extensions.decoding.decoding import add_methods
from scan.hex import to_hex
from scan.queries import contracts
from scan.queries.contracts import selectors
from scan.queries.reader import Reader
from tests.support.many_functions import PROXY, deploy

NOBODY = "0x" + 40 * "e"


def selector(signature):
    return "0x" + keccak(text=signature)[:4].hex()


def reader_of(explorer):
    return Reader(explorer.app.extensions["scan"].sources, "test")


def methods(explorer, *calls):
    records = [{"toAddress": to, "methodId": method} for to, method in calls]
    add_methods(reader_of(explorer), records)
    return [record.get("method") for record in records]


def test_a_method_is_named_by_the_contract_or_a_standard_else_by_its_bytes(explorer, many):
    transfer = "transfer(address,uint256)"
    clone = explorer.place(f"363d3d373d3d3d363d73{many[2:]}5af43d82803e903d91602b57fd5bf3")
    assert methods(
        explorer,
        (many, selector("over(address)")),
        (clone, selector("over(uint256)")),
        (NOBODY, selector(transfer)),
        (NOBODY, "0x01020304"),
        (NOBODY, None),
        (None, None),
    ) == ["over", "over", "transfer", "0x01020304", None, None]


def test_what_a_proxy_calls_is_named_without_the_node(explorer, many):
    """By verified contracts, where they agree: a transaction's page asks where the proxy leads."""
    slot = bytes.fromhex("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc")
    proxy = deploy(explorer, PROXY, "Proxy", many[2:].rjust(64, "0") + slot.hex())
    called = selector("over(address)")
    assert methods(explorer, (proxy, called), (NOBODY, called)) == ["over", called]
    explorer.execute("INSERT INTO verified_functions VALUES (%s, 'z()')", bytes.fromhex(called[2:]))
    assert methods(explorer, (proxy, called)) == [called]
    explorer.execute("DELETE FROM verified_functions WHERE signature = 'z()'")


def test_one_imported_signature_names_a_method_and_two_do_not(explorer):
    for number, name in ((1, "first"), (2, "second"), (2, "third")):
        explorer.execute(
            "INSERT INTO signatures VALUES (%s, %s)", bytes([9, 9, 9, number]), f"{name}()"
        )
    names = methods(explorer, (NOBODY, "0x09090901"), (NOBODY, "0x09090902"))
    assert names == ["first", "0x09090902"]
    assert selectors(reader_of(explorer), "first") == [bytes([9, 9, 9, 1])]
    assert selectors(reader_of(explorer), "second()") == [keccak(text="second()")[:4]]


def test_a_name_that_no_function_has_is_taken_in_any_case(explorer, monkeypatch):
    """Of standards, of verified contracts, and of imported signatures. Names in other letter case
    do not make one a name of too many functions."""
    reader = reader_of(explorer)
    transfers = selectors(reader, "transferFrom")
    assert selectors(reader, "TRANSFERFROM") == selectors(reader, "transferfrom") == transfers
    for insert, delete in (
        ("INSERT INTO verified_functions VALUES (%s, %s)", "DELETE FROM verified_functions"),
        ("INSERT INTO signatures VALUES (%s, %s)", "DELETE FROM signatures"),
    ):
        for number, signature in enumerate(("oneCase(uint8)", "ONECASE(address)", "oneCasex()")):
            explorer.sql(insert, bytes([8, 8, 8, number]), signature)
        assert selectors(reader, "oneCase") == [bytes([8, 8, 8, 0])]
        assert selectors(reader, "onecase") == [bytes([8, 8, 8, 0]), bytes([8, 8, 8, 1])]
        with monkeypatch.context() as patch:
            patch.setattr(contracts, "MAX_SELECTORS", 2)
            assert selectors(reader, "oneCase") == [bytes([8, 8, 8, 0])]
            patch.setattr(contracts, "MAX_IN_ANY_CASE", 2)
            for name in ("onecase", "oneCase"):  # of what was not read nothing is known
                with pytest.raises(InvalidParameter, match="too many"):
                    selectors(reader, name)
        explorer.sql(f"{delete} WHERE substr(selector, 1, 3) = '\\x080808'")
    assert explorer.client.get("/api/v1/transactions?method=TRANSFERFROM").status_code == 200


def test_a_name_means_all_functions_that_have_it(explorer, many, monkeypatch):
    reader = reader_of(explorer)
    over = {bytes.fromhex(selector(f"over({types})")[2:]) for types in ("address", "uint256")}
    assert over <= {*selectors(reader, "over")}
    assert selector("safeTransferFrom(address,address,uint256)") in {
        to_hex(value) for value in selectors(reader, "safeTransferFrom")
    }
    monkeypatch.setattr(contracts, "MAX_SELECTORS", 2)
    with pytest.raises(InvalidParameter, match="too many"):
        selectors(reader, "over")
    for text in ("f" + 1000 * "(", "f(" + 990 * "a b,", "f(" + 1990 * " ", "_" * 2000):
        with pytest.raises(InvalidParameter):
            selectors(reader, text)


def test_a_text_to_an_address_without_code_is_no_call(explorer, many):
    """Only its first four bytes are stored. Marks that turn the direction of what follows, and
    halves of characters, are left out."""
    texts = {
        "Invo": "Invo…",
        "Приве": "Пр…",
        "請求": "請…",
        "\u202eab": "a…",
        "\u202ea": "a…",
        "<b>x": "<b>x…",
        "\x00abc": None,
        "\u202e\u202e": None,
    }
    records = [{"toAddress": NOBODY, "methodId": f"0x{text.encode()[:4].hex()}"} for text in texts]
    records.append({"toAddress": many, "methodId": f"0x{b'Invo'.hex()}"})
    records.append({"toAddress": NOBODY, "methodId": "0xffff4142"})
    add_methods(reader_of(explorer), records)
    assert [record.get("memo") for record in records] == [*texts.values(), None, None]
    assert records[0]["method"] == "0x496e766f"
