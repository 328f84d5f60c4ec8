"""Limits through deploy/nginx.conf and three instances: exact for keys and for addresses."""

from contextlib import ExitStack

import pytest
import requests

from tests.support import WAIT_S
from tests.support.serving import at_once, gunicorn, nginx, statuses
from tests.support.source_address import new_client
from tests.support.wallets import key_request, new_wallet

pytestmark = pytest.mark.thorough

PER_KEY = 30


@pytest.fixture(scope="module")
def three(shared_database_url):
    environment = {
        "SCAN_TRUSTED_PROXIES": "1",
        "SCAN_RATE_LIMIT_KEY": f"{PER_KEY}/minute",
        "SCAN_RATE_LIMIT_PAGES": "12/minute",
        "SCAN_RATE_LIMIT_NEW_KEYS": "3/day",
    }
    with ExitStack() as running:
        yield [
            running.enter_context(gunicorn(shared_database_url, **environment)) for _ in range(3)
        ]


@pytest.fixture(scope="module")
def site(three, tmp_path_factory):
    with nginx(tmp_path_factory.mktemp("nginx"), three) as url:
        yield url


def new_key(site):
    with new_client() as session:
        body = key_request(new_wallet())
        return str(session.post(f"{site}/api/v1/keys", json=body, timeout=WAIT_S).json()["key"])


def x_api_key(session, site, key):
    return session.get(f"{site}/api/v1/nothing", headers={"X-API-Key": key}, timeout=WAIT_S)


def bearer(session, site, key):
    headers = {"Authorization": f"bEARER {key}"}
    return session.get(f"{site}/api/v1/nothing", headers=headers, timeout=WAIT_S)


def query(session, site, key):
    return session.get(f"{site}/api?module=x&apikey={key}", timeout=WAIT_S)


def encoded_query(session, site, key):
    return session.get(f"{site}/v2/api?module=x&%61PIkey=%73{key[1:]}", timeout=WAIT_S)


def form(session, site, key):
    return session.post(f"{site}/api", data={"module": "x", "apikey": key}, timeout=WAIT_S)


FORMS = (x_api_key, bearer, query, encoded_query, form)


def remaining(answers):
    """Of those that were counted, which all state the same limit."""
    assert len({answer.headers["X-RateLimit-Limit"] for answer in answers}) == 1
    passed = [a for a in answers if a.status_code != 429 and "limit of" not in a.text]
    return sorted(int(answer.headers["X-RateLimit-Remaining"]) for answer in passed)


def test_a_key_in_every_form_has_one_limit(site):
    key = new_key(site)
    sessions = [new_client() for _ in range(8)]
    answers = at_once(60, lambda n: FORMS[n % len(FORMS)](sessions[n % 8], site, key))
    assert remaining(answers) == list(range(PER_KEY))


def test_a_second_key_does_not_choose_the_instance_of_the_first(site):
    """nginx takes the parameter that it can read, the application the first one."""
    key, others = new_key(site), [new_key(site) for _ in range(6)]
    session = new_client()
    answers = [
        session.get(f"{site}/api?%61pikey={key}&apikey={other}", timeout=WAIT_S)
        for other in others * 10
    ]
    assert remaining(answers) == list(range(PER_KEY))


@pytest.mark.parametrize("send", FORMS)
def test_made_up_keys_are_charged_to_their_address(site, send):
    session = new_client()
    answers = at_once(40, lambda n: send(session, site, f"scan_{n:064x}"))
    assert remaining(answers) == list(range(10))


def test_an_address_has_one_limit_whatever_it_claims(site):
    session = new_client()

    def claim(number):
        headers = {"X-Forwarded-For": f"9.9.9.{number}"}
        return session.get(f"{site}/api/v1/nothing/{number}", headers=headers, timeout=WAIT_S)

    assert remaining(at_once(40, claim)) == list(range(10))


def test_nginx_sends_all_spellings_of_one_client_to_one_instance(three, tmp_path):
    """Addresses come through the realip module, as from another balancer."""
    trusting = {
        "# set_real_ip_from 10.0.0.0/8;": "set_real_ip_from 127.0.0.1;",
        "# real_ip_header X-Forwarded-For;": "real_ip_header X-Test-Address;",
    }
    hosts = (":1", "1:2:3:4", "0:0:0:9", "a::")
    networks = [
        f % n for f in ("2001:db8:0:%x", "2001:db8:%x:0", "2001:db8:7:%x") for n in (1, 2, 3)
    ]
    clients = [[f"{network}:{host}" for host in hosts] for network in networks]
    clients.append(["198.51.100.7", "::ffff:198.51.100.7"] * 2)
    with nginx(tmp_path, three, trusting) as front:
        for spellings in clients:
            answers = [
                requests.get(f"{front}/api/v1/keys", timeout=WAIT_S, headers={"X-Test-Address": a})
                for a in spellings * 3
            ]
            assert statuses(answers) == {400: 10, 429: 2}, spellings


@pytest.mark.parametrize("is_known", [False, True])
def test_pages_are_charged_to_their_address_whatever_key_comes_along(site, is_known):
    keys = [new_key(site) if is_known else f"scan_{n:064x}" for n in range(8)]
    session = new_client()
    answers = [
        session.get(f"{site}/blocks", headers={"X-API-Key": keys[n % 8]}, timeout=WAIT_S)
        for n in range(36)
    ]
    assert remaining(answers) == list(range(12))


def test_a_body_is_kept_where_an_instance_leads_its_request_on(site):
    session, refused = new_client(), []
    for number in range(6):
        answer = session.post(
            f"{site}/api/v1/query",
            json={"entity": "nothing", "text": "x" * 700_000},
            headers={"X-API-Key": f"scan_{number:064x}"},
            timeout=WAIT_S,
        )
        refused.append((answer.status_code, answer.json()["code"]))
    assert refused == [(401, "invalid_api_key")] * 6


def test_an_instance_without_a_trusted_proxy_answers_every_request_itself(shared_server):
    headers = {"X-API-Key": f"scan_{7:064x}", "X-Scan-Limit-Key": f"scan_{7:064x}"}
    answer = requests.get(f"{shared_server}/api/v1/nothing", headers=headers, timeout=WAIT_S)
    assert answer.status_code == 401
    assert "X-Accel-Redirect" not in answer.headers


def test_unusual_paths_reach_the_instance_that_counts_unchanged(site):
    """//api is served as /api, and a path is passed on as it was sent."""
    with new_client() as session:
        key = new_key(site)
        for path in ("//api/v1/nothing%20here", "/api/v1/%2e/nothing"):
            answer = session.get(f"{site}{path}", headers={"X-API-Key": f"{key} "}, timeout=WAIT_S)
            assert answer.status_code == 404
