"""Two chains, each with a database and a service of its own, at two paths of one nginx."""

import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from html import unescape
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest
import requests

from tests.pages.conftest import browser, page  # noqa: F401  # fixtures
from tests.support.anvil import Anvil
from tests.support.browser import Page
from tests.support.database import Postgres
from tests.support.indexing import Indexing
from tests.support.scenario import Stage, honest_tokens
from tests.support.serving import ROOT, exchange, gunicorn, nginx

CHAINS = {"eth": ("Ethereum", 1), "bsc": ("BNB Chain", 56)}
LINK = re.compile(r'\b(?:href|src|action)="([^"]*)"')
MOST_PAGES = 60


class Front(NamedTuple):
    url: str
    anvils: dict[str, Anvil]
    stages: dict[str, Stage]
    instances: dict[str, str]


@pytest.fixture(scope="module")
def front(
    postgres: Postgres, template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Front]:
    with ExitStack() as stack:
        found = Front("", {}, {}, {})
        for chain in CHAINS:
            start_chain(stack, postgres, template, chain, found)
        folder = tmp_path_factory.mktemp("nginx")
        url = stack.enter_context(
            nginx(folder, [found.instances["eth"]] * 3, of_chains(folder, found.instances))
        )
        yield found._replace(url=url)


def start_chain(
    stack: ExitStack, postgres: Postgres, template: str, chain: str, front: Front
) -> None:
    """A chain with some tokens, indexed, and one instance that serves it."""
    name, number = CHAINS[chain]
    anvil = front.anvils[chain] = stack.enter_context(Anvil("--chain-id", str(number)))
    stage = front.stages[chain] = Stage(anvil, seed=number)
    honest_tokens(stage)
    database_url = stack.enter_context(postgres.cloned(template))
    indexing = stack.enter_context(Indexing(database_url, anvil.url))
    indexing.wait_for(anvil.head())
    front.instances[chain] = stack.enter_context(
        gunicorn(
            database_url,
            RPC_URL=anvil.url,
            SCAN_BASE_PATH=f"/{chain}",
            SCAN_CHAIN_NAME=name,
            SCAN_RATE_LIMIT_ANONYMOUS="10000/minute",
            SCAN_RATE_LIMIT_PAGES="10000/minute",
        )
    )


def of_chains(folder: Path, instances: dict[str, str]) -> dict[str, str]:
    """What an operator writes into scan.conf, as deploy/nginx-chains.conf says."""
    upstreams = "".join(
        f"upstream scan_{chain} {{ server {instance.removeprefix('http://')}; keepalive 32; }}\n"
        for chain, instance in instances.items()
    )
    chains = (ROOT / "deploy" / "nginx-chains.conf").read_text()
    (folder / "chains.conf").write_text(chains.replace("/etc/nginx", str(folder)))
    shutil.copy(ROOT / "deploy" / "chains.html", folder / "scan-chains.html")
    included = "# include /etc/nginx/scan-chains.conf;"
    return {
        "server {\n": f"{upstreams}server {{\n",
        included: f"include {folder}/chains.conf;",
    }


def test_each_path_is_a_chain(front: Front) -> None:
    for chain, (name, number) in CHAINS.items():
        stats = requests.get(f"{front.url}/{chain}/api/v1/stats", timeout=10).json()
        assert (stats["chainId"], stats["chainName"]) == (number, name)
        ready = requests.get(f"{front.url}/{chain}/readyz", timeout=10).json()
        assert (ready["chainId"], ready["chainName"]) == (number, name)
        genesis = front.anvils[chain].call("eth_getBlockByNumber", "0x0", False)["hash"]
        block = requests.get(f"{front.url}/{chain}/api/v1/blocks/0", timeout=10).json()
        assert block["hash"] == genesis


def test_one_page_lists_the_chains(front: Front) -> None:
    answer = requests.get(f"{front.url}/", timeout=10)
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert set(LINK.findall(answer.text)) == {f"/{chain}/" for chain in CHAINS}


def test_all_links_of_pages_stay_with_their_chain(front: Front) -> None:
    seen: set[str] = set()
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


def test_redirects_stay_with_their_chain(front: Front) -> None:
    token = front.stages["bsc"].contracts["gold"].address
    answer = requests.get(f"{front.url}/bsc/search?q={token}", timeout=10, allow_redirects=False)
    assert answer.status_code == 302
    assert answer.headers["Location"].startswith("/bsc/")
    assert requests.get(f"{front.url}/bsc", timeout=10).status_code == 200


@pytest.mark.parametrize("path", ["/bsc%0a", "/bsc%0d%0aX-Injected:%20x", "/bsc%0a/"])
def test_a_line_break_in_a_path_stays_out_of_the_location(front: Front, path: str) -> None:
    request = f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    head, _, _ = exchange(front.url, request.encode()).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 404 ")
    assert b"\nX-Injected" not in head and b"\n" not in head.replace(b"\r\n", b"")


def test_errors_link_to_their_chain(front: Front) -> None:
    answer = requests.get(f"{front.url}/eth/block/999999", timeout=10)
    assert answer.status_code == 404
    assert {
        link for link in LINK.findall(answer.text) if not link.startswith(("/eth/", "#"))
    } == set()


def test_the_document_names_its_server(front: Front) -> None:
    document = requests.get(f"{front.url}/bsc/api/v1/openapi.json", timeout=10).json()
    assert document["servers"][0]["url"] == "/bsc"


def test_metrics_name_the_chain_and_do_not_leave_through_nginx(front: Front) -> None:
    assert requests.get(f"{front.url}/bsc/metrics", timeout=10).status_code == 404
    own = requests.get(f"{front.instances['bsc']}/metrics", timeout=10).text
    assert 'scan_chain_info{chain_id="56",name="BNB Chain"} 1.0' in own


def test_scripts_ask_their_own_chain(front: Front, page: Page) -> None:  # noqa: F811
    page.open(f"{front.url}/bsc/")
    before = page.text("#head")
    front.anvils["bsc"].mine()
    page.wait(f"document.getElementById('head').textContent !== '{before}'")
    paths = {urlsplit(a).path for a in page.requested if a.startswith(front.url)}
    assert {"/bsc/live", "/bsc/readyz"} <= paths
    assert all(path.startswith("/bsc/") for path in paths)
    assert page.errors == []


def test_the_page_of_chains_shows_their_heads(front: Front, page: Page) -> None:  # noqa: F811
    page.open(f"{front.url}/")
    heads = "[...document.querySelectorAll('li span')].map((e) => e.textContent)"
    page.wait(f"{heads}.filter((text) => text.startsWith('block ')).length === 2")


def test_the_api_can_be_tried_below_a_path(front: Front, page: Page) -> None:  # noqa: F811
    page.open(f"{front.url}/bsc/docs/")
    page.wait("document.querySelector('#operations-Chain-getStats') !== null")
    assert page.errors == []
