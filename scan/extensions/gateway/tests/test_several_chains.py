"""Two chains, each with a database and a service of its own, at two paths of one nginx."""

import re
from html import unescape
from urllib.parse import urldefrag, urljoin, urlsplit
from uuid import uuid4

import pytest
import requests
from werkzeug.test import Client

from scan.extensions.gateway.application import Gateway
from scan.extensions.gateway.forwarding import Chain, read_chains
from scan.settings import Brand, Settings
from tests.support import explorer, page_checks, serving
from tests.support.foundry import COMMIT, PATH, SETTINGS, VERSION, built, source
from tests.support.several_chains import CHAINS, of_form

LINK = re.compile(r'\b(?:href|src|action)="([^"]*)"')
MOST_PAGES = 35


def test_each_path_is_a_chain(front, base):
    for chain, (name, number) in CHAINS.items():
        stats = requests.get(f"{base}/{chain}/api/v1/stats", timeout=10).json()
        assert (stats["chainId"], stats["chainName"]) == (number, name)
        ready = requests.get(f"{base}/{chain}/readyz", timeout=10).json()
        assert (ready["chainId"], ready["chainName"]) == (number, name)
        genesis = front.anvils[chain].call("eth_getBlockByNumber", "0x0", False)["hash"]
        block = requests.get(f"{base}/{chain}/api/v1/blocks/0", timeout=10).json()
        assert block["hash"] == genesis


def test_one_page_lists_the_chains(base):
    answer = requests.get(f"{base}/", timeout=10)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    links = {link for link in LINK.findall(answer.text) if not link.startswith("data:")}
    assert links == {"/", *(f"/{chain}/" for chain in CHAINS)}


def test_all_links_of_pages_stay_with_their_chain(front):
    seen = set()
    ahead = [f"{front.url}/bsc/"]
    while ahead and len(seen) < MOST_PAGES:
        address = ahead.pop(0)
        seen.add(address)
        answer = requests.get(address, timeout=10)
        assert answer.status_code == 200, address
        assert urlsplit(answer.url).path.startswith("/bsc/"), address
        if not answer.headers["Content-Type"].startswith("text/html"):
            continue
        for link in map(unescape, LINK.findall(answer.text)):
            found = urldefrag(urljoin(answer.url, link)).url
            assert found.startswith(f"{front.url}/bsc/"), (address, link)
            if found not in seen and found not in ahead:
                ahead.append(found)
    assert len(seen) > 30


def test_redirects_stay_with_their_chain(front):
    token = front.stages["bsc"].contracts["gold"].address
    answer = requests.get(f"{front.url}/bsc/search?q={token}", timeout=10, allow_redirects=False)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/bsc/")
    assert requests.get(f"{front.url}/bsc", timeout=10).status_code == 200


@pytest.mark.parametrize("path", ["/bsc%0a", "/bsc%0d%0aX-Injected:%20x", "/bsc%0a/"])
def test_a_line_break_in_a_path_stays_out_of_the_location(front, path):
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    head, _, _ = serving.exchange(front.url, request.encode()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert b"\nX-Injected" not in head and b"\n" not in head.replace(b"\r\n", b"")


def test_metrics_name_the_chain_and_do_not_leave_through_nginx(front):
    assert requests.get(f"{front.url}/bsc/metrics", timeout=10).status_code == 404
    own = requests.get(f"{front.instances['bsc']}/metrics", timeout=10).text
    assert 'scan_chain_info{chain_id="56",name="BNB Chain"} 1.0' in own


def test_scripts_ask_their_own_chain(front, page):
    page.open(f"{front.url}/bsc/")
    before = page.text("#head")
    front.anvils["bsc"].mine()
    page.wait(f"document.getElementById('head').textContent !== '{before}'")
    paths = {urlsplit(a).path for a in page.requested if a.startswith(front.url)}
    assert {"/bsc/live", "/bsc/readyz"} <= paths
    assert all(path.startswith("/bsc/") for path in paths)
    assert page.errors == []


def test_the_page_of_chains_shows_their_heads(front, page):
    page.open(f"{front.url}/")
    heads = "[...document.querySelectorAll('li span')].map((e) => e.textContent)"
    page.wait(f"{heads}.filter((text) => text.startsWith('block ')).length === 2")


def test_the_page_of_chains_searches_all_of_them_in_the_brand(front, page, tmp_path):
    page.open(f"{front.url}/")
    page.evaluate("document.querySelector('form input').value = '1'")
    page.evaluate("document.querySelector('form').requestSubmit()")
    page.wait("document.getElementById('status').textContent.includes('on 2 of 2 chains')")
    links = page.evaluate("[...document.querySelectorAll('#results a')].map(a => a.pathname)")
    assert {"/bsc/search", "/eth/search"} <= {*links} and page.errors == []
    assert page_checks.all_violations(page) == []
    brand = Brand(name="<Two> Chains", colors=(("accent", ("#111111", "#eeeeee")),))
    (tmp_path / "chains.toml").write_text('[one]\nchain_id = 1\nname = "<b>One"\n')
    own = Client(Gateway(read_chains(tmp_path / "chains.toml", Settings()), 0, brand)).get("/")
    assert "&lt;Two&gt; Chains" in own.text and "&lt;b&gt;One" in own.text
    assert "--accent: light-dark(#111111, #eeeeee)" in own.text
    assert "unsafe" not in own.headers["Content-Security-Policy"]


@pytest.mark.long
def test_the_api_can_be_tried_below_a_path(front, page):
    page.open(f"{front.url}/bsc/docs/#/Chain/getStats")
    page.wait("document.querySelector('#operations-Chain-getStats') !== null")
    assert page.errors == []


def test_a_chain_id_in_a_query_or_a_form_names_the_chain(front, base):
    block = {"module": "proxy", "action": "eth_getBlockByNumber", "tag": "0x0", "boolean": "false"}
    for chain, (_, number) in CHAINS.items():
        genesis = front.anvils[chain].call("eth_getBlockByNumber", "0x0", False)["hash"]
        named = {"chainid": str(number)}
        for path in ("/api", "/v2/api", "/v2/api/"):
            query = requests.get(f"{base}{path}", params=block | named, timeout=10).json()
            assert query["result"]["hash"] == genesis
        for form in (block | named, block | {"chainId": f"0{number}"}):
            assert of_form(base, "/v2/api", **form)["result"]["hash"] == genesis
        multipart = {name: (None, value) for name, value in (named | block).items()}
        answer = requests.post(f"{base}/api", files=multipart, timeout=10).json()
        assert answer["result"]["hash"] == genesis
        mixed = requests.post(f"{base}/api", params=named, data=block, timeout=10).json()
        assert mixed["result"]["hash"] == genesis


@pytest.mark.parametrize("chain_id", ["", "5", "bsc", "56'", "9" * 5000])
def test_a_chain_id_of_no_chain_is_refused_in_the_forms_way(base, chain_id):
    parameters = {"module": "stats", "action": "tokensupply", "chainid": chain_id}
    query = requests.get(f"{base}/api", params=parameters, timeout=10)
    assert query.status_code == 200
    assert query.headers["Access-Control-Allow-Origin"] == "*"
    for answer in (of_form(base, "/v2/api", **parameters), query.json()):
        assert (answer["status"], answer["message"]) == ("0", "NOTOK")
        assert answer["result"].startswith("Missing or unsupported chainid parameter")


def test_sourcifys_paths_name_the_chain(front, base):
    for chain, (_, number) in CHAINS.items():
        token = front.stages[chain].contracts["gold"].address
        for server in ("", "/server"):
            answer = requests.get(f"{base}{server}/v2/contract/{number}/{token}", timeout=10)
            assert answer.status_code == 404
            assert (answer.json()["chainId"], answer.json()["match"]) == (str(number), None)
    refused = requests.get(f"{base}/v2/contract/5/{'0x' + 40 * '1'}", timeout=10)
    assert (refused.status_code, refused.json()["customCode"]) == (404, "unsupported_chain")
    missing = requests.get(f"{base}/v2/contract/all-chains/{token}", timeout=10)
    assert (missing.status_code, missing.json()) == (404, {"results": []})
    malformed = requests.get(f"{base}/v2/contract/all-chains/0x12", timeout=10)
    assert (malformed.status_code, malformed.json()["customCode"]) == (400, "invalid_parameter")
    for chain, status in (("1", 200), ("5", 404)):
        assert requests.get(f"{base}/v2/contracts/{chain}", timeout=10).status_code == status
    job = requests.get(f"{base}/v2/verify/{uuid4()}", timeout=20)
    assert (job.status_code, job.json()["customCode"]) == (404, "job_not_found")


def test_the_lists_of_chains(front, base):
    for path in ("/chains", "/server/chains"):
        assert requests.get(f"{base}{path}", timeout=10).json() == [
            {"name": name, "chainId": number, "supported": True} for name, number in CHAINS.values()
        ]
    listed = requests.get(f"{base}/v2/chainlist", timeout=10).json()
    assert listed["totalcount"] == 2
    assert listed["result"][1] == {
        "chainname": "BNB Chain",
        "chainid": "56",
        "blockexplorer": f"{base}/bsc/",
        "apiurl": f"{base}/v2/api?chainid=56",
        "status": 1,
        "comment": "",
    }


def test_a_service_of_another_chain_is_noticed(front):
    """A file may name a service by a wrong chain_id."""
    chains = [
        Chain(path, chain_id, path, front.instances["bsc"], {})
        for path, chain_id in (("right", 56), ("wrong", 57))
    ]
    client = Client(Gateway(chains, 0))
    ready = client.get("/readyz")
    assert ready.status_code == 503
    said = {chain["path"]: chain["problem"] for chain in ready.json["chains"]}
    assert "serves chain" not in str(said["right"])
    assert said["wrong"] == "serves chain 56, not 57"
    assert "wrong: serves chain 56, not 57" in ready.json["problem"]
    assert [chain["status"] for chain in client.get("/v2/chainlist").json["result"]] == [1, 0]


@pytest.mark.long
def test_a_job_of_verification_is_that_of_its_chain(front):
    anvil, creation = front.anvils["bsc"], f"0x{built(1).creation}{7:064x}"
    sent = anvil.send(anvil.accounts[0], None, data=creation, gas=5_000_000)
    address = anvil.receipt_of(sent)["contractAddress"]
    body = {
        "stdJsonInput": explorer.standard_input({PATH: source(1)}, **SETTINGS),
        "compilerVersion": f"{VERSION}+commit.{COMMIT}",
        "contractIdentifier": f"{PATH}:Stored",
    }
    sent = requests.post(f"{front.url}/v2/verify/56/{address}", json=body, timeout=30)
    assert sent.status_code == 202, sent.text
    job = requests.get(f"{front.url}/v2/verify/{sent.json()['verificationId']}", timeout=30).json()
    assert (job["contract"]["chainId"], job["contract"]["match"]) == ("56", "exact_match")
    for base in (front.url, front.gateway):
        everywhere = requests.get(f"{base}/v2/contract/all-chains/{address}", timeout=30)
        listed = requests.get(f"{base}/v2/contracts/56?limit=1", timeout=30)
        assert everywhere.json() == listed.json() == {"results": [job["contract"]]}
        assert requests.head(everywhere.url, timeout=30).status_code == 200
