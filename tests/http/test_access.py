"""An explorer whose access is `keys`: what a stranger gets, of whichever path, how keys and people
come in, and what an enemy of theirs would try."""

import hashlib
import re
from http.cookies import SimpleCookie
from itertools import product
from urllib.parse import quote, urlsplit

import pytest
from itsdangerous import TimestampSigner
from werkzeug.test import Client

from scan.accounts import api_keys
from scan.http.access import COOKIE
from scan.setting_kinds import proxy_header
from tests.support.database import execute, made_key
from tests.support.private_access import LIMITS, MUCH, UNKNOWN, ask, key, private, seen
from tests.support.wallets import key_request, new_wallet, owner_of

__all__ = ["ask", "key", "private"]

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
OWN = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}


def test_a_stranger_gets_one_refusal_of_all_routes_and_methods(private, scenario):
    """Of a path of each route with values that are indexed, and with others."""
    client = Client(private, use_cookies=False)
    transaction = scenario.truth.transactions[0]
    values = {"transaction_hash": transaction["hash"], "address": transaction["fromAddress"]}
    rules = [rule.rule for rule in private.url_map.iter_rules()]
    argument = re.compile(r"<(?:\w+:)?(\w+)>")
    routes = {argument.sub(lambda name: values.get(name[1], "1"), rule) for rule in rules}
    routes |= {argument.sub("0x" + 64 * "f", rule) for rule in rules}
    assert len(routes) > 60
    open_ = {*product(("GET", "HEAD"), ("/healthz", "/readyz", "/sign-in")), ("POST", "/sign-in")}
    paths = (*routes, "/nowhere", "/api/v1/nowhere", "/api/v2/nowhere", "/static/1/scan.js")
    methods = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW")
    closed = sorted({*product(methods, paths)} - open_)
    assert len(closed) > 60 * (len(methods) - 1)
    responses = {route: client.open(route[1], method=route[0]) for route in closed}
    assert [route for route, response in responses.items() if response.status_code != 401] == []
    assert len({seen(response)[:2] for response in responses.values()}) == 1
    with_body = {seen(r) for (method, _), r in responses.items() if method != "HEAD"}
    assert len(with_body) == 1
    of_pages = [path for method, path in closed if method == "GET" and not path.startswith("/api")]
    pages = {seen(client.get(path, headers=BROWSER)) for path in of_pages}
    assert len(pages) == 1 < len(of_pages)
    [(_, headers, body)] = pages
    assert b'name="key"' in body and not {"ETag", "Location", "X-Scan-Block"} & dict(headers).keys()
    assert dict(headers)["Cache-Control"] == "private, no-store"


@pytest.mark.parametrize(
    "path",
    (
        r"""//api/v1/blocks /api/v1/blocks/ /./api/v1/blocks /healthz/../api/v1/blocks
        /static/../api/v1/blocks /healthz/ //healthz/ /healthz/api/v1/blocks /HEALTHZ
        /%2e%2e/api/v1/blocks /healthz%2f..%2fapi/v1/blocks /sign-in/../blocks /sign-in/x
        /healthz;/api/v1/blocks /sign-in// /\api/v1/blocks /api/v1/blocks?_=1 *
        /api/v1/blocks?apikey= /readyz/ /readyz%00 /sign-in%2f http://x/api/v1/blocks""".split()
    ),
)
def test_no_spelling_of_a_path_opens_it(ask, path):
    response = ask("/", environ={"PATH_INFO": path.partition("?")[0], "RAW_URI": path})
    assert response.status_code == 401 and seen(response) == seen(ask("/nowhere"))
    assert ask(path).status_code in (401, 200) and b"hash" not in ask(path).data


def test_what_a_stranger_sends_along_changes_nothing(ask):
    for headers in (
        {"If_None_Match": "*", "Range": "bytes=0-1", "Accept_Encoding": "gzip"},
        {"X_Scan_At_Least_Block": "999999999"},
        {"Accept": "text/csv"},
        {"X_Forwarded_User": "anna"},
        {"X_Original_URL": "/healthz", "X_HTTP_Method_Override": "GET", "Host": "healthz"},
        {"Cookie": f"{COOKIE}=\xe9; other=\xff"},
        {"Authorization": "Basic YTpi"},
    ):
        paths = ("/api/v1/blocks", "/blocks", "/static/1/scan.js", "/nowhere", "/api/v1/x")
        refusals = {seen(ask(path, **headers)) for path in paths}
        assert len(refusals) == 1 and {refusal[0] for refusal in refusals} == {"401 Unauthorized"}
    problem = {seen(ask(p, Accept="application/problem+json")) for p in ("/api/v1/blocks", "/x")}
    assert len(problem) == 1


def test_a_preflight_is_answered_alike_for_all_paths(ask):
    more = {"Access_Control_Request_Method": "GET", "Access_Control_Request_Headers": "x-api-key"}
    paths = ("/api/v1/blocks", "/api/v1/keys", "/nowhere", "/readyz")
    answers = {seen(ask(path, "OPTIONS", **more)) for path in paths}
    [(status, headers, body)] = answers
    assert status == "204 No Content" and not body
    assert dict(headers)["Access-Control-Allow-Headers"] == "x-api-key"


def test_the_service_is_alive_and_ready_without_a_detail(ask, key):
    assert ask("/healthz").json == {"status": "alive"}
    with_key = ask("/readyz", X_API_Key=key.text)
    assert with_key.json["indexedBlock"] > 0
    response = ask("/readyz")
    assert (response.status_code, response.json) == (200, {"status": "ready"})
    assert "X-Scan-Block" not in response.headers and "ETag" not in response.headers
    assert seen(ask("/readyz", X_Scan_At_Least_Block="999999999")) == seen(response)
    assert ask("/sign-in", X_Scan_At_Least_Block="999999999").status_code == 200


# Keys


def test_a_key_comes_in_a_header(ask, key):
    for headers in ({"X_API_Key": key.text}, {"Authorization": f"bearer {key.text}"}):
        response = ask("/api/v1/blocks", **headers)
        assert response.status_code == 200 and response.headers["X-RateLimit-Limit"] == "100000"
        assert response.headers["Cache-Control"] == "private, no-store"
        assert {"Cookie", "X-API-Key"} <= {*response.headers["Vary"].split(", ")}


def test_a_wrong_key_and_two_keys_open_nothing(ask, key, own_index):
    other = made_key(own_index.url, 100)
    same = ask("/api/v1/blocks", X_API_Key=key.text, Authorization=f"Bearer {key.text}")
    assert same.status_code == 200
    for headers, query in (
        ({"X_API_Key": UNKNOWN}, ""),
        ({"X_API_Key": ""}, ""),
        ({"X_API_Key": f"{key.text},{key.text}"}, ""),  # as the server joins two headers
        ({"X_API_Key": key.text[:-1]}, ""),
        ({"X_API_Key": key.text, "Authorization": f"Bearer {other.text}"}, ""),
        ({"X_API_Key": key.text, "Authorization": f"Bearer {UNKNOWN}"}, ""),
        ({}, f"?apikey={key.text}"),
    ):
        refusals = {
            seen(ask(f"{path}{query}", **headers)) for path in ("/api/v1/blocks", "/nowhere")
        }
        assert {status for status, *_ in refusals} == {"401 Unauthorized"}, headers
        assert len(refusals) == 1


def test_what_one_reads_from_the_cache_is_no_answer_to_another(ask, key):
    read = ask("/api/v1/blocks", X_API_Key=key.text)
    again = {"If_None_Match": read.headers["ETag"]}
    assert ask("/api/v1/blocks", X_API_Key=key.text, **again).status_code == 304
    assert seen(ask("/api/v1/blocks", **again)) == seen(ask("/nowhere"))
    assert seen(ask("/api/v1/blocks", X_API_Key=UNKNOWN, **again)) == seen(
        ask("/nowhere", X_API_Key=UNKNOWN)
    )


def test_wallets_make_no_keys_unless_allowed(ask, key, own_index):
    refused = ask("/api/v1/keys", "POST", X_API_Key=key.text)
    assert (refused.status_code, refused.json["code"]) == (403, "wallet_keys_off")
    allowed = own_index.client(access="keys+wallets", **LIMITS)
    assert allowed.post("/api/v1/keys", json={}).status_code == 401
    answer = allowed.post("/api/v1/keys", json={}, headers={"X-API-Key": key.text})
    assert answer.status_code == 400


@pytest.mark.parametrize("end", ["active = false", "expires_at = now()"])
def test_keys_by_wallets_end_with_the_key_that_let_them_in(own_index, end):
    """Also those that they made: whoever is let go has had access by none but the first."""
    limits = {**LIMITS, "rate_limit_new_keys": MUCH}
    application = own_index.client(access="keys+wallets", **limits).application

    def make(key, wallet=None):
        request = {"json": key_request(wallet or new_wallet()), "headers": {"X-API-Key": key}}
        created = application.test_client().post("/api/v1/keys", **request)
        assert created.status_code == 201, created.json
        return created.json

    def status(made):
        application.extensions["scan"].key_lookup.clear_cache()
        headers = {"X-API-Key": made["key"]}
        return Client(application).get("/api/v1/blocks", headers=headers).status_code

    key, wallet = made_key(own_index.url, 100_000), new_wallet()
    first = make(key.text, wallet)
    others = [make(first["key"]), make(first["key"], wallet)]
    update = "UPDATE api_keys SET {} WHERE id = %s"
    execute(own_index.url, update.format("active = false"), first["id"])  # as to have another one
    assert [status(made) for made in (first, *others)] == [401, 200, 200]
    execute(own_index.url, update.format(end), key.id)
    assert [status(made) for made in others] == [401, 401]
    client = own_index.client(**LIMITS)
    shown = client.get(f"/api/v1/keys?owner={owner_of(wallet)}").json["keys"]
    assert [made["active"] for made in shown] == [False, False]


# People


def sign_in(person, text, headers=OWN, **fields):
    return person.post("/sign-in", data={"key": text, **fields}, headers=headers)


def test_a_person_signs_in_and_out(private, key):
    person = private.test_client()
    assert person.get("/blocks", headers=BROWSER).status_code == 401
    signed = sign_in(person, key.text, headers={**OWN, "Referer": "http://localhost/blocks?page=2"})
    assert (signed.status_code, signed.headers["Location"]) == (303, "/blocks?page=2")
    assert signed.headers["Cache-Control"] == "private, no-store"
    cookie = SimpleCookie(signed.headers["Set-Cookie"])[COOKIE]
    assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == (True, "Lax", "")
    assert key.text not in cookie.value and key.hash.hex() not in cookie.value
    page = person.get("/blocks", headers=BROWSER)
    assert page.status_code == 200 and 'action="/sign-out"' in page.text
    assert person.get("/api/v1/blocks").headers["X-RateLimit-Limit"] == "100000"  # the key's
    out = person.post("/sign-out", headers=OWN)
    assert (out.status_code, out.headers["Location"]) == (303, "/sign-in")
    person.set_cookie(COOKIE, cookie.value)  # as a copy of it would
    assert person.get("/blocks", headers=BROWSER).status_code == 401


def test_over_https_the_cookie_is_sent_over_https_alone(private, key):
    own = {"Origin": "https://localhost", "Sec-Fetch-Site": "same-origin"}
    signed = sign_in(private.test_client(), key.text, headers=own)
    assert SimpleCookie(signed.headers["Set-Cookie"])[COOKIE]["secure"]


@pytest.mark.parametrize(
    "target",
    (
        *("//evil.example", "https://evil.example", "/\\evil.example", "/\t/evil.example", "/\n"),
        *(
            "\\\\evil.example",
            "evil.example",
            "javascript:1",
            "/ /x",
            "/sign-out",
            "/" + "a" * 3000,
        ),
    ),
)
def test_signing_in_leads_to_this_site_alone(private, key, target):
    signed = sign_in(private.test_client(), key.text, next=target)
    assert (signed.status_code, signed.headers["Location"]) == (303, "/")
    form = private.test_client().get(f"/sign-in?next={quote(target)}")
    assert form.status_code == 200 and "evil" not in form.text
    foreign = {**OWN, "Referer": "https://evil.example/blocks"}
    assert sign_in(private.test_client(), key.text, headers=foreign).headers["Location"] == "/"


def test_a_form_of_another_site_signs_nobody_in(private, key):
    form = private.test_client().get('/sign-in?next=/"><script>alert(1)</script>')
    assert "<script>" not in form.text
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        refused = sign_in(private.test_client(), key.text, headers=headers)
        assert refused.status_code == 403 and "Set-Cookie" not in refused.headers


def test_another_site_cannot_use_a_persons_session(private, key):
    person = private.test_client()
    sign_in(person, key.text)
    foreign = (
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"},
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "websocket", "Sec-Fetch-Dest": "empty"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
    )
    for headers in foreign:
        for path in ("/api/v1/blocks", "/socket/v2/websocket?vsn=2.0.0", "/blocks"):
            assert person.get(path, headers=headers).status_code == 401, headers
        posted = person.post("/api/v1/webhooks", json={}, headers=headers)
        assert posted.status_code == 401, headers
        assert person.post("/sign-out", headers=headers).status_code == 401
    assert person.post("/api/v1/webhooks", json={}).status_code == 401  # of an unknown page
    assert person.post("/api/v1/webhooks", json={}, headers=OWN).status_code == 400
    link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    assert person.get("/blocks", headers={**link, "Sec-Fetch-Dest": "document"}).status_code == 200


def test_a_session_ends_with_its_key_and_is_of_nobody_else(private, own_index, ask, key):
    person, other = private.test_client(), made_key(own_index.url, 100)
    signed = sign_in(person, key.text)
    value = SimpleCookie(signed.headers["Set-Cookie"])[COOKIE].value
    for cookie in (f"{value}x", value[:-1], value.upper(), "\xe9", str(key.id), "1" * 64, key.text):
        assert ask("/blocks", Cookie=f"{COOKIE}={cookie}").status_code == 401
    assert ask("/blocks", Cookie=f"{COOKIE}={value}").status_code == 200
    assert ask("/blocks", X_API_Key=value).status_code == 401
    own = SimpleCookie(sign_in(private.test_client(), other.text).headers["Set-Cookie"])
    own = own[COOKIE].value
    assert ask("/blocks", Cookie=f"{COOKIE}={own}").status_code == 200
    assert ask("/blocks", Cookie=f"{COOKIE}={value}; {COOKIE}={own}").status_code == 401
    # A key in a header is used, and must be one.
    assert ask("/blocks", Cookie=f"{COOKIE}={value}", X_API_Key=UNKNOWN).status_code == 401
    execute(own_index.url, "UPDATE api_keys SET active = false WHERE id = %s", key.id)
    private.extensions["scan"].key_lookup.clear_cache()
    assert person.get("/blocks").status_code == 401


@pytest.mark.parametrize(("table", "column"), [("api_keys", "id"), ("sessions", "key_id")])
def test_nothing_that_is_stored_is_a_session(private, own_index, ask, key, table, column):
    """Whoever reads the tables of keys and sessions, as in a backup, can make none by them."""
    sign_in(private.test_client(), key.text)
    query = f"SELECT row_to_json(t) FROM {table} t WHERE {column} = %s"  # noqa: S608
    [(stored,)] = execute(own_index.url, query, key.id)
    values = [str(value).removeprefix("\\x") for value in stored.values()]
    assert len([value for value in values if len(value) == 64]) == 1
    secrets = [bytes.fromhex(v) if len(v) == 64 else v.encode() for v in values]
    hashes = [hashlib.sha256(secret).hexdigest() for secret in secrets]
    signed = [
        TimestampSigner(secret, salt=salt, key_derivation=how).sign(str(key.id)).decode()
        for secret, salt, how in product(
            secrets, ("scan.session", "itsdangerous.Signer"), ("hmac", "django-concat")
        )
    ]
    for cookie in (*values, *hashes, *signed):
        assert ask("/blocks", Cookie=f"{COOKIE}={quote(cookie)}").status_code == 401, cookie


@pytest.mark.parametrize(("more_s", "status"), [(-600, 200), (2, 401)])
def test_a_session_ends_after_a_week(private, own_index, key, more_s, status):
    person = private.test_client()
    sign_in(person, key.text)
    older = "UPDATE sessions SET ends_at = ends_at - %s * interval '1 second' WHERE key_id = %s"
    execute(own_index.url, older, 7 * 86_400 + more_s, key.id)
    assert person.get("/blocks").status_code == status


def test_a_key_has_so_many_sessions_of_which_the_oldest_end(private, own_index, key):
    people = [private.test_client() for _ in range(3)]
    sign_in(people[0], key.text)
    more = "INSERT INTO sessions SELECT sha256(n::text::bytea), %s, now() + interval '8 days'"
    more += " FROM generate_series(1, %s) AS n"
    execute(own_index.url, more, key.id, api_keys.MAX_SESSIONS - 2)
    for person in people[1:]:
        sign_in(person, key.text)
    assert [person.get("/blocks").status_code for person in people] == [401, 200, 200]
    [(count,)] = execute(own_index.url, "SELECT count(*) FROM sessions WHERE key_id = %s", key.id)
    assert count == api_keys.MAX_SESSIONS


def test_attempts_to_sign_in_are_limited(own_index, key):
    client = own_index.client(access="keys", **LIMITS)
    answers = [sign_in(client, UNKNOWN).status_code for _ in range(11)]
    assert answers == [401] * 10 + [429]
    assert sign_in(client, key.text).status_code == 429


def test_without_pages_or_where_all_is_open_there_is_no_form(own_index, key):
    client = own_index.client(access="keys", pages=False, **LIMITS)
    assert seen(client.get("/sign-in", headers=BROWSER)) == seen(client.get("/nowhere"))
    assert client.get("/", headers={"X-API-Key": key.text}).status_code == 200
    assert own_index.client(**LIMITS).get("/sign-in").status_code == 404


@pytest.mark.parametrize(
    ("origin", "status", "location", "status_of_api"),
    [
        ("https://scan.example.org", 303, "/blocks?page=2", 400),
        ("https://evil.example", 403, None, 401),
        ("http://localhost", 403, None, 401),
    ],
)
def test_own_pages_are_those_of_the_public_url(
    own_index, key, origin, status, location, status_of_api
):
    """Whoever points a name of their own here has their own name in Host."""
    client = own_index.client(access="keys", public_url="https://Scan.example.org", **LIMITS)
    headers = {"Origin": origin, "Host": urlsplit(origin).netloc}
    headers["Referer"] = f"{origin}/blocks?page=2"
    signed = sign_in(client, key.text, headers=headers)
    assert (signed.status_code, signed.headers.get("Location")) == (status, location)
    posted = client.post("/api/v1/webhooks", json={}, headers=headers)
    assert posted.status_code == status_of_api


# People whom a proxy has signed in


def test_a_person_is_believed_of_a_proxy_alone(own_index):
    settings = {"trusted_proxies": 1, "proxy_user_header": proxy_header("X-Forwarded-User")}
    client = own_index.client(access="keys", **settings, **LIMITS)
    nobody = [
        *("", " ", "-", "--", "_", "?", "''", '""', ".", "(null)", "null", "NULL", "<null>", "nil"),
        *("<nil>", "%!s(<nil>)", "none", "None", "(none)", "[None]", "undefined", "undefined."),
        *("<no value>", "no value", "n/a", "N/A", "NaN", "anonymous", "Anonymous", "(anonymous)"),
        *("anonymousUser", "anonymous-user", "ANONYMOUS USER", "guest", "nobody", "unknown"),
        *("false", "unauthenticated", "null@null", "null null", "none:none", "$remote_user"),
        *("${user}", "%{REMOTE_USER}e", "{http.auth.user.id}", "{{ user }}", "@", "\xa0", "\xad"),
        "[object Object]",
    ]
    statuses = {
        ("127.0.0.1", "anna@example.org"): 200,
        ("::1", "anna"): 200,
        ("::ffff:127.0.0.1", "anna"): 200,
        ("127.0.0.1", "auth0|5f"): 200,
        ("127.0.0.1", "John Null"): 200,
        ("127.0.0.1", "0"): 200,
        **{("127.0.0.1", user): 401 for user in nobody},
        ("127.0.0.1", "anna,bert"): 401,  # as the server joins two headers
        ("127.0.0.1", "a" * 400): 401,
        ("192.0.2.1", "anna"): 401,
        ("", "anna"): 401,
    }
    for (peer, user), status in statuses.items():
        headers = {"X-Forwarded-User": user, "X-Forwarded-For": "203.0.113.9, 127.0.0.1"}
        environ = {"REMOTE_ADDR": peer}
        page = client.get("/blocks", headers=headers, environ_overrides=environ)
        assert page.status_code == status, (peer, user)
        foreign = {**headers, "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
        refused = client.get("/blocks", headers=foreign, environ_overrides=environ)
        assert refused.status_code == 401, (peer, user)
