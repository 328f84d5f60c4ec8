"""Streams whose key is revoked or expires while they are open."""

from select import select

import pytest
import requests

from tests.support import WAIT_S, serving
from tests.support.database import execute, made_key

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("access", "end"),
    [("open", "active = false"), ("keys", "expires_at = now() + interval '1 second'")],
)
def test_a_stream_ends_with_its_key(own_index, access, end):
    """Before its first heartbeat, which is sent after 15 s."""
    url = own_index.settings.database_url
    key = made_key(url, 1000)
    with serving.gunicorn(url, SCAN_ACCESS=access) as address:
        request = {"url": f"{address}/api/v1/stream", "headers": {"X-API-Key": key.text}}
        with requests.get(**request, stream=True, timeout=WAIT_S) as opened:
            lines = opened.iter_lines(chunk_size=1)
            assert next(lines) == b"retry: 2000"
            assert next(lines).startswith(b"id: ") and next(lines) == b""
            execute(url, f"UPDATE api_keys SET {end} WHERE id = %s", key.id)  # noqa: S608
            assert [*lines] == []
        assert requests.get(**request, timeout=WAIT_S).status_code == 401


def test_a_stream_ends_with_its_session(own_index):
    """Whoever signs out ends it, before its first heartbeat, also where a copy of the cookie is."""
    url = own_index.settings.database_url
    key = made_key(url, 1000)
    with serving.gunicorn(url, SCAN_ACCESS="keys") as address, requests.Session() as person:
        own = {"Origin": address, "Sec-Fetch-Site": "same-origin"}
        person.post(f"{address}/sign-in", data={"key": key.text}, headers=own, timeout=WAIT_S)
        stream = f"{address}/api/v1/stream"
        with person.get(stream, stream=True, timeout=WAIT_S) as opened:
            lines = opened.iter_lines(chunk_size=1)
            assert next(lines) == b"retry: 2000"
            assert next(lines).startswith(b"id: ") and next(lines) == b""
            copied = dict(person.cookies)
            person.post(f"{address}/sign-out", headers=own, timeout=WAIT_S)
            assert [*lines] == []
        assert requests.get(stream, cookies=copied, timeout=WAIT_S).status_code == 401


def test_a_person_s_stream_ends_and_goes_on_for_whom_the_proxy_still_signs_in(own_index):
    """Whoever has a key keeps the stream meanwhile."""
    private = {
        "SCAN_ACCESS": "keys",
        "SCAN_TRUSTED_PROXIES": "1",
        "SCAN_PROXY_USER_HEADER": "X-Forwarded-User",
    }
    url, user = own_index.settings.database_url, {"X-Forwarded-User": "anna"}
    key = made_key(url, 1000)
    configuration = ("-c", "tests/support/short_streams.conf.py")
    with serving.gunicorn(url, *configuration, **private) as address, requests.Session() as session:
        stream = f"{address}/api/v1/stream"
        by_key = {"X-API-Key": key.text}
        kept = session.get(stream, headers=by_key, stream=True, timeout=WAIT_S)
        opened = requests.get(stream, headers=user, stream=True, timeout=WAIT_S)
        first, *rest = opened.content.decode().split("\n\n")
        assert opened.status_code == 200 and rest == [""]
        position = first.partition("id: ")[2]
        again = {"Last-Event-ID": position}
        refused = requests.get(stream, headers=again, timeout=WAIT_S)
        assert refused.status_code == 401
        resumed = requests.get(stream, headers=user | again, timeout=WAIT_S)
        assert f"id: {position}" in resumed.text
        lines = kept.iter_lines(chunk_size=1)
        assert [next(lines) for _ in range(3)][-1] == b""
        assert select([kept.raw], [], [], 0)[0] == []  # neither more nor an end
        kept.close()
