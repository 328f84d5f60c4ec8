"""Events and errors among the results of a search, by name, signature, topic and selector."""

import re
from pathlib import Path

import pytest

from scan.ethereum.rlp_and_tries import keccak256
from tests.support.lists import get
from tests.support.many_functions import verified

SOURCE = Path(__file__).with_name("Declared.sol").read_text()
OPENED = "HarborOpened(address,uint256)"
FULL = "HarborFull(uint256,address)"


@pytest.fixture(scope="module")
def harbor(explorer):
    return verified(explorer, SOURCE, "Harbor")


def results(explorer, text):
    results = get(explorer.client, "/search", q=text)["results"]
    return [(r["type"], r["name"], r["match"]) for r in results if r["type"] in ("event", "error")]


def test_events_and_errors_are_found_by_name_signature_topic_and_selector(explorer, harbor):
    one = ("event", "HarborOpened(address)", "exact")
    assert results(explorer, "HarborOpened") == [one, ("event", OPENED, "exact")]
    assert results(explorer, "harboropened(address,u") == [("event", OPENED, "prefix")]
    assert results(explorer, OPENED) == [("event", OPENED, "exact")]
    topic = f"0x{keccak256(OPENED.encode()).hex()}"
    assert results(explorer, topic) == results(explorer, topic.upper().replace("X", "x"))
    assert results(explorer, topic) == [("event", OPENED, "exact")]
    selector = f"0x{keccak256(FULL.encode())[:4].hex()}"
    for text, match in ((FULL, "exact"), (selector, "exact"), ("HarborF", "prefix")):
        assert results(explorer, text) == [("error", FULL, match)]
    # Of standards without a verified contract.
    assert ("event", "Transfer(address,address,uint256)", "exact") in results(explorer, "Transfer")
    assert results(explorer, f" {OPENED} ") == results(explorer, OPENED)
    for text in ("Ha", "%arbor", "Harbor_pened", "0x" + "ab" * 32):
        assert results(explorer, text) == [], text


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
    results = get(explorer.client, "/search", q="0xA9059CBB")["results"]
    assert [(r["type"], r["value"]) for r in results] == [("method", "0xa9059cbb")]
