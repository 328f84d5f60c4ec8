"""Two chains, each with a database and a service of its own, at two paths of one nginx."""

import re
from collections import namedtuple
from contextlib import ExitStack
from html import unescape
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
import requests

from tests.support import WAIT_S, serving
from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens

pytestmark = pytest.mark.thorough


FIRST_BLOCK = "module=proxy&action=eth_getBlockByNumber&tag=0x0&boolean=false"


CHAINS = {"eth": ("Ethereum", 1), "bsc": ("BNB Chain", 56)}


Front = namedtuple("Front", "url anvils stages instances")


@pytest.fixture(scope="module")
def front(postgres, template, solc_dir, tmp_path_factory):
    """Chains with some tokens, each with an instance, behind what an operator writes into
    scan.conf, as deploy/nginx-chains.conf says."""
    anvils, stages, instances, upstreams = {}, {}, {}, ""
    with ExitStack() as stack:
        for chain, (name, number) in CHAINS.items():
            anvil = anvils[chain] = stack.enter_context(Anvil("--chain-id", str(number)))
            stages[chain] = Stage(anvil, seed=number)
            honest_tokens(stages[chain])
            database_url = stack.enter_context(postgres.cloned(template))
            stack.enter_context(Indexing(database_url, anvil.url, until=anvil.head()))
            instance = serving.gunicorn(
                database_url,
                RPC_URL=anvil.url,
                SCAN_BASE_PATH=f"/{chain}",
                SCAN_CHAIN_NAME=name,
                SCAN_RATE_LIMIT_ANONYMOUS="10000/minute",
                SCAN_RATE_LIMIT_PAGES="10000/minute",
                SCAN_TRUSTED_PROXIES="1",
                SCAN_SOLC_DIR=str(solc_dir),
            )
            instances[chain] = stack.enter_context(instance)
            server = instances[chain].removeprefix("http://")
            upstreams += f"upstream scan_{chain} {{ server {server}; keepalive 32; }}\n"
        deploy = serving.ROOT / "deploy"
        of_chains = {
            "server {\n": f"include {deploy}/nginx-chains-map.conf;\n{upstreams}server {{\n",
            "# include /etc/nginx/scan-chains.conf;": f"include {deploy}/nginx-chains.conf;",
        }
        nginx = serving.nginx(tmp_path_factory.mktemp("nginx"), [instances["eth"]] * 3, of_chains)
        yield Front(stack.enter_context(nginx), anvils, stages, instances)


def genesis(front, chain):
    return front.anvils[chain].call("eth_getBlockByNumber", "0x0", False)["hash"]


def test_each_path_is_a_chain(front):
    for chain, (name, number) in CHAINS.items():
        stats = requests.get(f"{front.url}/{chain}/api/v1/stats", timeout=WAIT_S).json()
        assert (stats["chainId"], stats["chainName"]) == (number, name)
        block = requests.get(f"{front.url}/{chain}/api/v1/blocks/0", timeout=WAIT_S).json()
        assert block["hash"] == genesis(front, chain)


def test_each_host_name_is_a_chain(front):
    """Also where its query names another one, which its service refuses."""
    for chain, (_, number) in CHAINS.items():
        stats, page, ready, own, other = (
            requests.get(
                f"{front.url}{path}", headers={"Host": f"{chain}.example.org:8000"}, timeout=WAIT_S
            )
            for path in (
                "/api/v1/stats",
                "/",
                "/readyz",
                f"/v2/api?{FIRST_BLOCK}&chainid={number}",
                f"/v2/api?{FIRST_BLOCK}&chainid={57 - number}",
            )
        )
        assert stats.json()["chainId"] == ready.json()["chainId"] == number
        assert page.headers["Content-Type"].startswith("text/html")
        assert own.json()["result"]["hash"] == genesis(front, chain)
        assert other.json()["status"] == "0" and "chainid" in other.json()["result"]


def test_all_links_of_pages_stay_with_their_chain(front):
    reference = re.compile(r'\b(?:href|src|action)="([^"]*)"')

    def links_of(answer):
        """Those of a page; other files have none."""
        is_page = answer.headers["Content-Type"].startswith("text/html")
        return [unescape(text) for text in reference.findall(answer.text)] if is_page else []

    seen = set()
    ahead = [f"{front.url}/bsc/"]
    most_pages = 35
    while ahead and len(seen) < most_pages:
        address = ahead.pop(0)
        seen.add(address)
        answer = requests.get(address, timeout=WAIT_S)
        assert answer.status_code == 200, address
        assert urlsplit(answer.url).path.startswith("/bsc/"), address
        links = [urldefrag(urljoin(answer.url, link)).url for link in links_of(answer)]
        assert [link for link in links if not link.startswith(f"{front.url}/bsc/")] == [], address
        ahead += [link for link in dict.fromkeys(links) if link not in {*seen, *ahead}]
    assert len(seen) > 30


@pytest.mark.parametrize("path", ["/bsc%0a", "/bsc%0d%0aX-Injected:%20x", "/bsc%0a/"])
def test_a_line_break_in_a_path_stays_out_of_the_location(front, path):
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    head, _, _ = serving.exchange(front.url, request.encode()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert b"\nX-Injected" not in head and b"\n" not in head.replace(b"\r\n", b"")


def test_metrics_name_the_chain_and_do_not_leave_through_nginx(front):
    assert requests.get(f"{front.url}/bsc/metrics", timeout=WAIT_S).status_code == 404
    own = requests.get(f"{front.instances['bsc']}/metrics", timeout=WAIT_S).text
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


def test_a_chain_id_in_a_query_names_the_chain_also_of_a_form(front):
    for chain, (_, number) in CHAINS.items():
        for path in ("/api", "/v2/api", "/v2/api/"):
            address = f"{front.url}{path}?{FIRST_BLOCK}&chainid=0{number}"
            for answer in (
                requests.get(address, timeout=WAIT_S),
                requests.post(address, timeout=WAIT_S),
            ):
                assert answer.json()["result"]["hash"] == genesis(front, chain)


@pytest.mark.parametrize("chain_id", ["", "5", "bsc", "56'", "9" * 5000])
def test_a_chain_id_of_no_chain_is_refused_in_the_forms_way(front, chain_id):
    """As is one that only the body names."""
    query = requests.get(f"{front.url}/api?chainid={chain_id}", timeout=WAIT_S)
    form = requests.post(f"{front.url}/v2/api", data={"chainid": "56"}, timeout=WAIT_S)
    for answer in (query, form):
        assert answer.status_code == 404 and answer.headers["Access-Control-Allow-Origin"] == "*"
        assert answer.json()["status"] == "0"
        assert answer.json()["result"].startswith("Missing or unsupported chainid parameter")


def test_sourcifys_paths_name_the_chain(front):
    for chain, (_, number) in CHAINS.items():
        token = front.stages[chain].contracts["gold"].address
        for server in ("", "/server"):
            answer = requests.get(
                f"{front.url}{server}/v2/contract/{number}/{token}", timeout=WAIT_S
            )
            assert answer.status_code == 404
            assert (answer.json()["chainId"], answer.json()["match"]) == (str(number), None)
        listed = requests.get(f"{front.url}/v2/contracts/{number}", timeout=WAIT_S)
        assert listed.json() == {"results": []}
    refused = requests.get(f"{front.url}/v2/contract/5/{'0x' + 40 * '1'}", timeout=WAIT_S)
    assert (refused.status_code, refused.json()["customCode"]) == (404, "unsupported_chain")


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/stats", "/tx/0x1", "/ethereum/", "/eth2", "/healthz"]
)
def test_what_names_no_chain_is_of_none(front, path):
    answer = requests.get(f"{front.url}{path}", timeout=WAIT_S)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
