"""Forms in Etherscan's form of the API: whose key they hold, and what a large one may cost."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scan.errors import InvalidParameter
from scan.http.credentials_and_limits import key_in_form
from scan.http.request_bodies import large_urlencoded
from tests.support import WAIT_S, http_client, serving, source_address
from tests.support.database import made_key

KEY = "scan_" + "5e" * 32
BOUNDARY = "----form"


def urlencoded(**fields):
    return urlencode(fields).encode()


def multipart(**fields):
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


@pytest.mark.check
@pytest.mark.parametrize("name", ["apikey", "apiKey", "APIKEY"])
@pytest.mark.parametrize("write", [urlencoded, multipart])
def test_a_key_is_read_from_raw_bytes(write, name):
    assert key_in_form(write(**{"module": "contract", name: KEY, "action": "x"})) == KEY
    assert key_in_form(write(**{name: KEY, "sourceCode": "contract C {}" * 1000})) == KEY


@pytest.mark.check
@pytest.mark.parametrize("write", [urlencoded, multipart])
def test_a_key_in_another_field_is_none(write):
    for fields in (
        {"sourceCode": f"// apikey {KEY}"},
        {"myapikey": KEY},
        {"apikey2": KEY},
        {"apikey": "scan_12"},
        {"apikey": ""},
    ):
        assert key_in_form(write(**fields)) is None


@pytest.mark.check
def test_looking_for_a_key_is_no_work_worth_an_attack():
    """Texts that look like keys, or like heads of fields, in five megabytes: 20 ms, not hours."""
    for attack in (KEY.encode() * 70_000, b"&apikey=" * 600_000, b'; name="apikey"\r\n' * 300_000):
        assert key_in_form(attack) is None


# Over the real worker: the key stands in the form, which is read after its address was charged.


@pytest.fixture(scope="module")
def server(shared_database_url):
    with serving.gunicorn(shared_database_url, SCAN_RATE_LIMIT_ADDRESS="60/minute") as address:
        yield address


KINDS = {
    urlencoded: "application/x-www-form-urlencoded",
    multipart: f"multipart/form-data; boundary={BOUNDARY}",
}
QUESTION = {"module": "contract", "action": "checkverifystatus", "guid": "x"}


def post(client, url, body, kind=KINDS[urlencoded]):
    return client.post(url, data=body, headers={"Content-Type": kind}, timeout=WAIT_S)


@pytest.mark.parametrize("write", KINDS)
def test_a_form_is_charged_to_its_key_exactly(server, shared_database_url, write):
    key = made_key(shared_database_url, 20)
    client = source_address.new_client()
    body = write(**QUESTION, sourceCode="x" * 400_000, ApiKey=key.text)
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(lambda _: post(client, f"{server}/api", body, KINDS[write]), "x" * 30)
        )
    passed = [a for a in answers if "Max rate limit" not in a.text]
    assert sorted(int(a.headers["X-RateLimit-Remaining"]) for a in passed) == list(range(20))
    assert {a.headers["X-RateLimit-Limit"] for a in answers} == {"20"}
    rest = client.options(server + "/api/v1/keys", timeout=WAIT_S).headers["X-RateLimit-Remaining"]
    assert rest == "10"  # of the address


def test_forms_of_keys_are_charged_to_their_address_once(server, shared_database_url):
    keys = [made_key(shared_database_url, 1000) for _ in range(2)]
    client = source_address.new_client()
    bodies = [urlencoded(**QUESTION, apikey=key.text) for key in keys]
    answers = [post(client, f"{server}/api", bodies[n % 2]) for n in range(62)]
    assert ["Max rate limit" in answer.text for answer in answers] == [False] * 60 + [True] * 2


def test_an_address_over_its_limit_has_no_form_parsed(server):
    """It is told so before any of its form is looked at: that one is malformed does not show."""
    client = source_address.new_client()
    for _ in range(10):
        assert client.get(server + "/api/v1/nothing", timeout=WAIT_S).status_code == 404
    for kind in KINDS.values():
        answer = post(client, f"{server}/api", b"a&" * 2_600_000, kind)
        assert answer.json()["result"].startswith("Max rate limit reached")
        assert answer.headers["X-RateLimit-Limit"] == "10"


def test_past_the_ceiling_no_form_is_received(server):
    """The loop refuses by the head alone; no byte of the body has come."""
    client = http_client.Client(server, "127.4.0.1")
    for _ in range(60):
        client.ask("/api", b"{}")
    head = "POST /api HTTP/1.1\r\nHost: x\r\nContent-Length: 5000000\r\n\r\n"
    client.socket.sendall(head.encode())
    assert b"Max rate limit reached" in client.receive().body


@pytest.mark.parametrize("write", KINDS)
def test_a_form_of_too_many_fields_is_refused(server, write):
    client = source_address.new_client()
    for fields, is_refused in ((200, False), (201, True)):
        body = write(**QUESTION, **{f"field{n}": "x" for n in range(fields - len(QUESTION))})
        answer = post(client, f"{server}/api", body, KINDS[write])
        assert ("at most 200 fields" in answer.text) == is_refused, answer.text


def test_a_field_with_an_endless_head_is_refused(server):
    body = multipart(**QUESTION, **{"a" * 1_000_000: "x"})
    answer = post(source_address.new_client(), f"{server}/api", body, KINDS[multipart])
    assert "malformed" in answer.text


def test_a_form_that_ends_early_is_refused(server):
    head = (
        b"POST /api?module=contract&action=checkverifystatus&guid=x HTTP/1.1\r\nHost: x\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99\r\n\r\napikey=x"
    )
    answer = serving.exchange(server, head, finish=True)
    assert b'"status":"0"' in answer and b"body ended early" in answer


TEXT = st.text(st.sampled_from("a=&+% \r\n\t_.ä€\x00~"), max_size=20)


@pytest.mark.check
@given(st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=4))
def test_a_large_form_is_read_as_a_small_one(fields):
    body = urlencode(fields)
    read = large_urlencoded(body.encode()).items(multi=True)
    assert Counter(read) == Counter(parse_qsl(body, keep_blank_values=True))


@pytest.mark.check
@pytest.mark.parametrize("body", [b"a=%", b"a=%4", b"a=%zz", b"%%41=b", b"a=%\n"])
def test_a_large_form_with_malformed_escapes_is_refused(body):
    with pytest.raises(InvalidParameter):
        large_urlencoded(body)


@pytest.mark.parametrize("path", [f"/address/0x{'ab' * 20}/{name}" for name in ("verify", "call")])
def test_no_form_may_have_any_number_of_fields(server, path):
    """Half a million fields took five seconds and hundreds of megabytes on pages."""
    answer = post(source_address.new_client(), server + path, b"a&" * 20_000)
    assert "A form must have at most" in answer.text
