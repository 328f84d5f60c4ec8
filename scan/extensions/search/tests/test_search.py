"""GET /api/v1/search: what a text may mean, in which order, and what the database pays for it."""

import re
from pathlib import Path

import pytest

from scan.ethereum.rlp_and_tries import keccak256
from scan.extensions.search import views
from tests.support import explain, lists
from tests.support.database import execute, insert
from tests.support.indexing import client_over
from tests.support.many_functions import verified

LABELLED = b"\x11" * 20
NEARNESS = """
-- In place of the distance of pg_trgm, which the embedded PostgreSQL does not have.
DO $do$ BEGIN IF to_regclass('tokens_by_similar_name') IS NULL THEN
CREATE FUNCTION nearness(name text, other text) RETURNS real LANGUAGE sql AS $$
    SELECT CASE WHEN other = 'dolar' THEN 0.71 WHEN right(name, 5) = 'pound' THEN 0.5
        WHEN right(name, 6) = 'dollar' THEN 0.69 ELSE 1 END
$$;
CREATE OPERATOR <-> (LEFTARG = text, RIGHTARG = text, FUNCTION = nearness);
CREATE INDEX tokens_by_similar_name ON tokens (lower(name));
END IF; END $do$
"""


@pytest.mark.check
@pytest.mark.parametrize("length", [0, 1_000_000])
@pytest.mark.parametrize("form", ["{}x{}x", "x{}x", "{}", "x {}", "0x{}"])
def test_a_text_is_read_once_however_long_it_is(form, length):
    """Before its length is checked; in quadratic time this would not end within the time-out."""
    text = form.format(length * "\u200b", length * '"\u2060')
    assert views.value_in(text) == text.strip()


def search(client, text):
    return lists.get(client, "/search", q=text)["results"]


def test_whole_and_pasted_forms_and_beginnings_lead_on(client, scenario):
    sent, block = scenario.truth.transactions[0], scenario.truth.blocks[4]
    address, hash_, of_block = sent["fromAddress"], sent["hash"], block["hash"]
    # The form of ICAP, with its check digits and with others.
    number, digits = int(address, 16), ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[digit] + digits
    digits = digits.rjust(30, "0")
    check = 98 - int("".join(str(int(c, 36)) for c in f"{digits}XE00")) % 97
    iban, wrong_iban = f"XE{check:02}{digits}", f"XE{(check + 1) % 98:02}{digits}"
    forms = {
        f"/address/{address}": (
            *(address, address.upper(), f"  {address[2:]} ", f'"{address}"', f"`{address}`"),
            *(f"\u200b{address}\ufeff", f" eth:{address}\u202c ", f"arb1:{address.upper()}"),
            *(f"\u2060'{address}\u00ad", f"\u3164\U000e0041{address}\u2800\u115f"),
            f"eip155:31337:{address}",
            f"https://explorer.example/address/{address}#code",
            f"explorer.example/token/{address}?a=1",
            f"https://explorer.example/#/address/{address}/transactions",
            *(iban, f"iban:{iban[:4].lower()} {iban[4:].lower()}"),
            # The short form of pages, and beginnings.
            f"{address[:8]}…{address[-4:]}",
            f"0x{address[2:6].upper()}...{address[-4:]}",
            *(address[:10], f"0x{address[2:40].upper()}", f"{address[:22]}…{address[22:]}"),
        ),
        f"/tx/{hash_}": (
            *(hash_.upper(), f"“{hash_}”", f"<{hash_}>"),
            f"http://127.0.0.1:8000/tx/{hash_}?tab=logs",
        ),
        f"/block/{block['number']}": (
            *(str(block["number"]), of_block, of_block[2:], of_block.upper().replace("0X", "0x")),
            *(of_block[:14], of_block[:65], f"{of_block[:8]}…{of_block[-4:]}"),
        ),
        "/block/2": ("0x2", "#2", "'2'", "https://explorer.example/block/2", "0X02"),
    }
    for path, texts in forms.items():
        for text in texts:
            moved = client.get("/search", query_string={"q": text})
            assert moved.headers.get("Location") == path, text
            assert path.endswith(search(client, text)[0]["value"]), text
    for text in (
        *("99,999,999", f"eth:{address[2:]}", f"e th:{address}", f"{address}\u200b0"),
        *("0x1234…zzzz", f"{address[:8]}…{int(address[-4:], 16) ^ 1:04x}", "0x…", "0x12…34"),
        *(wrong_iban, "XE00" + "Z" * 31, "https://a.example/a/b/c"),
    ):
        assert search(client, text) == [], text
        assert client.get("/search", query_string={"q": text}).status_code == 200, text


def test_only_a_whole_label_leads_on(client, database_url):
    """A part of an operator's label is listed, as is a name that anybody can choose."""
    execute(database_url, "INSERT INTO labels VALUES (%s, 'Orchard treasury')", LABELLED)
    labelled = client_over(database_url)
    for text in ("orchard treasury", "Orchard treasury"):
        moved = labelled.get("/search", query_string={"q": text})
        assert moved.headers["Location"] == f"/address/0x{LABELLED.hex()}", text
    for text in ("orchard", "treasury", "chard", "orchid", "treas", "rd tre"):
        assert labelled.get("/search", query_string={"q": text}).status_code == 200, text
    for token in lists.get(client, "/tokens", limit=10)["tokens"]:
        assert client.get("/search", query_string={"q": token["name"]}).status_code == 200


def test_new_transactions_are_found_by_a_part_of_their_hash(client, scenario, monkeypatch):
    oldest = scenario.truth.transactions[-1]["hash"]
    short = f"{oldest[:8]}…{oldest[-4:]}"
    for part in (oldest[:10], oldest[:65], short, short.replace("…", "...")):
        [transaction] = search(client, part)
        assert (transaction["type"], transaction["value"]) == ("transaction", oldest)
        moved = client.get("/search", query_string={"q": part})
        assert moved.headers["Location"] == f"/tx/{oldest}"
        suggested = client.get("/search/suggestions", query_string={"q": part})
        assert oldest not in suggested.text  # asked for with each letter that is typed
    for part in (oldest[:9], f"{oldest[:10]}…{int(oldest[-4:], 16) ^ 1:04x}"):
        assert search(client, part) == []
    monkeypatch.setattr(views, "NEWEST_TRANSACTIONS", len(scenario.truth.transactions) - 1)
    assert search(client, oldest[:11]) == []


@pytest.mark.thorough
def test_a_part_that_two_transactions_have_finds_neither(own_seeded_service):
    execute(
        own_seeded_service.url,
        "UPDATE transactions SET hash = decode('abcdef01' || lpad(ordinal::text, 56, '0'), 'hex')"
        " WHERE ordinal IN (7, 8)",
    )
    plans, body = own_seeded_service.plans("/api/v1/search?q=0xabcdef01")
    assert body["results"] == []
    [plan] = [plan for plan in plans if plan.statement == "queries/transactions_find_by_part"]
    plan.require_indexes(most_sorted=0)
    _, body = own_seeded_service.plans("/api/v1/search?q=0xabcdef01…0007")
    [transaction] = body["results"]
    assert transaction["value"] == f"0xabcdef01{7:056d}"


def test_a_part_that_several_have_finds_none_of_them(database_url):
    """Whoever makes an address that looks like another one must not be taken for it."""
    for number in (1, 2):
        insert(database_url, "addresses", address=bytes.fromhex(f"abcdef{number:030x}1234"))
    client = client_over(database_url)
    for text in ("0xabcdef", "0xabcdef…1234", f"0xabcdef{'0' * 29}"):
        assert search(client, text) == []
    [result] = search(client, f"0xabcdef{1:030x}")
    assert result["value"] == f"0xabcdef{1:030x}1234"


@pytest.mark.parametrize(
    "text",
    ["%", "_", "\\", "'; DROP TABLE tokens; --", "\u202e", "0x", "🦄" * 25, "a%b", "<b>", "1e5"],
)
def test_odd_texts_find_nothing_they_should_not(client, text):
    for result in search(client, text):
        assert text.lower() in (result["name"] or "").lower() + (result["symbol"] or "").lower()


@pytest.fixture(scope="module")
def seeded(postgres, seeded_template):
    """50,000 transactions, 20,000 tokens of similar names, 20,000 labels."""
    with postgres.cloned(seeded_template) as url, explain.explained(url) as service:
        execute(
            url,
            "INSERT INTO tokens (address, block_number, type, name, symbol, decimals, total_supply,"
            " item_type, holder_count)"
            " SELECT decode(address, 'hex'), 1, 'BEP20', name, symbol, 18, 0, NULL, holders FROM ("
            " SELECT 'a' || lpad(to_hex(n), 39, '0'), 'Coin number ' || n, 'COIN' || n, n %% 1000"
            " FROM generate_series(1, 20000) AS n UNION ALL"
            " SELECT lpad(to_hex(row_number() OVER ()), 40, 'c'), name, name, 1000 FROM ("
            " VALUES ('17'), ((SELECT hex(hash) FROM blocks WHERE number = 17)),"
            " ((SELECT hex(hash) FROM transactions WHERE ordinal = 17))) AS named (name)"
            ") AS made (address, name, symbol, holders)",
        )
        execute(
            url,
            "INSERT INTO labels (address, label)"
            " SELECT decode('b' || lpad(to_hex(n), 39, '0'), 'hex'), 'Holder ' || n"
            " FROM generate_series(1, 20000) AS n UNION ALL VALUES (%s, 'Treasury')",
            LABELLED,
        )
        execute(url, "ANALYZE tokens")
        execute(url, "ANALYZE labels")
        yield service


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    [*"coin c COIN19999 holder treasury 17 199 0xabcdef 0xabcd…abcd".split(), "ab" * 32, "older 1"],
)
def test_a_search_reads_a_bounded_part_of_indexes(seeded, text):
    [plan, *_], answer = seeded.plans(f"/api/v1/search?q={text}")  # extensions may read more
    assert len(answer["results"]) <= 20 and plan.buffers < 5000
    plan.require_indexes(2000)


def test_labels_are_found_by_any_word_and_contracts_by_whole_ones(database_url):
    execute(database_url, "INSERT INTO labels VALUES (%s, 'Market maker 7')", LABELLED)
    execute(database_url, "INSERT INTO contracts VALUES (%s, 1, %s)", LABELLED, b"\1" * 32)
    verified = {"address": LABELLED, "code_hash": b"\1" * 32, "match": "full", "abi": "[]"}
    verified["contract_name"] = "TransparentUpgradeableProxy"
    insert(database_url, "verified_contracts", **verified)
    client = client_over(database_url)
    for text in ("maker", "MAK", "maker 7", "market mak"):
        assert [result["name"] for result in search(client, text)] == ["Market maker 7"], text
    for text in ("proxy", "PROXY", "upgradeable proxy", "UpgradeableProxy"):
        [result] = search(client, text)
        assert (result["type"], result["name"]) == ("contract", "TransparentUpgradeableProxy"), text
    for text in ("aker", "prox", "maker market", "7", "!!!"):
        assert search(client, text) == [], text


@pytest.mark.thorough
def test_blocks_and_transactions_come_before_whole_names_and_those_held_most_last(seeded):
    client = seeded.client
    assert search(client, "coin5")[0]["symbol"] == "COIN5"
    [treasury] = search(client, "TREASURY")
    assert (treasury["type"], treasury["value"]) == ("address", "0x" + LABELLED.hex())
    assert len(search(client, "coin")) == 20
    [hashes] = execute(
        seeded.url,
        "SELECT (SELECT hex(hash) FROM blocks WHERE number = 17),"
        " (SELECT hex(hash) FROM transactions WHERE ordinal = 17)",
    )
    for text, kind in zip(("17", *hashes), ("block", "block", "transaction"), strict=True):
        assert [r["type"] for r in search(client, text)][:2] == [kind, "token"], text


def test_names_that_share_three_of_ten_trigrams_are_similar(database_url):
    execute(database_url, NEARNESS)
    for number, name in enumerate(("Meridian Dollar", "Meridian Pound", "Other")):
        token = {"address": bytes([number]) * 20, "type": "BEP20", "name": name}
        insert(database_url, "tokens", **token, decimals=18, holder_count=number)
    client = client_over(database_url)
    dollar, pound = "Meridian Dollar", "Meridian Pound"
    for text, results in (
        ("meridan", [(pound, "similar"), (dollar, "similar")]),
        (dollar, [(dollar, "exact"), (pound, "similar")]),
        ("dolar", []),  # 5 of 17 trigrams are the same
    ):
        assert [(t["name"], t["match"]) for t in search(client, text)] == results, text


OPENED = "HarborOpened(address,uint256)"


@pytest.fixture(scope="module")
def harbor(explorer):
    source = Path(__file__).with_name("Declared.sol").read_text()
    return verified(explorer, source, "Harbor")


def test_events_and_errors_are_found_by_name_signature_topic_and_selector(explorer, harbor):
    def declared(text):
        results = search(explorer.client, text)
        return [
            (r["type"], r["name"], r["match"]) for r in results if r["type"] in ("event", "error")
        ]

    full = "HarborFull(uint256,address)"
    one = ("event", "HarborOpened(address)", "exact")
    assert declared("HarborOpened") == [one, ("event", OPENED, "exact")]
    assert declared("harboropened(address,u") == [("event", OPENED, "prefix")]
    assert declared(OPENED) == [("event", OPENED, "exact")]
    topic = f"0x{keccak256(OPENED.encode()).hex()}"
    assert declared(topic) == declared(topic.upper().replace("X", "x"))
    assert declared(topic) == [("event", OPENED, "exact")]
    selector = f"0x{keccak256(full.encode())[:4].hex()}"
    for text, match in ((full, "exact"), (selector, "exact"), ("HarborF", "prefix")):
        assert declared(text) == [("error", full, match)]
    # Of standards without a verified contract.
    assert ("event", "Transfer(address,address,uint256)", "exact") in declared("Transfer")
    assert declared(f" {OPENED} ") == declared(OPENED)
    for text in ("Ha", "%arbor", "Harbor_pened", "0x" + "ab" * 32):
        assert declared(text) == [], text


def test_results_lead_to_logs_and_to_a_contract_and_never_jump(explorer, harbor):
    topic = f"0x{keccak256(OPENED.encode()).hex()}"
    for text in ("HarborOpened", "harborope", OPENED, topic, "HarborFull"):
        answer = explorer.client.get("/search", query_string={"q": text})
        assert answer.status_code == 200, text
    [path] = re.findall(r'href="(/address/0x\w{40})"><bdi>HarborFull', answer.text)
    assert path == f"/address/{harbor}"
    page = explorer.client.get("/search", query_string={"q": OPENED}).text
    [path] = re.findall(r'href="(/events\?topic0=[^"]+)"', page)
    explorer.send(harbor, "0xfcfff16f")  # open()
    assert OPENED in explorer.client.get(f"{path}&_=sent").text
    unknown = explorer.client.get(f"/search?q=0x{'ab' * 32}")
    assert unknown.headers["Location"] == f"/tx/0x{'ab' * 32}"


def test_a_method_is_found_by_its_selector(explorer):
    [found] = search(explorer.client, "0xA9059CBB")
    assert (found["type"], found["value"]) == ("method", "0xa9059cbb")
