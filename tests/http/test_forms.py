"""Forms in Etherscan's form of the API: whose key they hold, and what a large one may cost."""

import tracemalloc
from urllib.parse import urlencode

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.datastructures import MultiDict

from scan.errors import InvalidParameter
from scan.http.credentials import key_in_form
from scan.http.forms import Request
from scan.http.requests import MAX_FORM_BYTES

KEY = "scan_" + "5e" * 32
BOUNDARY = "----form"


def multipart(**fields: str) -> bytes:
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    ]
    return ("".join(parts) + f"--{BOUNDARY}--\r\n").encode()


@pytest.mark.parametrize("name", ["apikey", "apiKey", "APIKEY"])
@pytest.mark.parametrize("write", [lambda **fields: urlencode(fields).encode(), multipart])
def test_a_key_is_read_from_raw_bytes(write, name: str) -> None:
    assert key_in_form(write(**{"module": "contract", name: KEY, "action": "x"})) == KEY
    assert key_in_form(write(**{name: KEY, "sourceCode": "contract C {}" * 1000})) == KEY


@pytest.mark.parametrize("write", [lambda **fields: urlencode(fields).encode(), multipart])
def test_a_key_in_another_field_is_none(write) -> None:
    for fields in (
        {"sourceCode": f"// apikey {KEY}"},
        {"myapikey": KEY},
        {"apikey2": KEY},
        {"apikey": "scan_12"},
        {"apikey": ""},
    ):
        assert key_in_form(write(**fields)) is None


def test_a_part_with_more_heads_has_its_key_read() -> None:
    form = (
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="apikey"; x=y\r\n'
        f"Content-Type: text/plain\r\n\r\n{KEY}\r\n--{BOUNDARY}--\r\n"
    )
    assert key_in_form(form.encode()) == KEY


def test_looking_for_a_key_is_no_work_worth_an_attack() -> None:
    """Texts that look like keys, or like heads of fields, in five megabytes: 20 ms, not hours."""
    for attack in (KEY.encode() * 70_000, b"&apikey=" * 600_000, b'; name="apikey"\r\n' * 300_000):
        assert key_in_form(attack) is None


def parse(body: bytes, mimetype: str = "application/x-www-form-urlencoded") -> MultiDict[str, str]:
    request = Request.from_values(method="POST", data=body, content_type=mimetype)
    request.max_form_parts = 200
    request.max_content_length = request.max_form_memory_size = MAX_FORM_BYTES
    return request.form


@given(
    st.lists(
        st.tuples(st.text(max_size=9), st.text(st.sampled_from("=+& %\n\r\tx_.é€\ufffd\0"))),
        max_size=5,
    )
)
def test_an_urlencoded_form_is_read_as_it_was_written(fields: list[tuple[str, str]]) -> None:
    form = parse(urlencode(fields).encode())
    assert sorted(form.items(multi=True)) == sorted(fields)


def test_bytes_that_a_client_left_unescaped_are_read_as_they_are() -> None:
    form = parse(b"a=x=41\n= =\r\n_\xc3\xa9&b&&=c&a=%ff")
    assert [*form.items(multi=True)] == [
        *(("a", "x=41\n= =\r\n_é"), ("a", "\ufffd"), ("b", ""), ("", "c"))
    ]


@pytest.mark.parametrize("body", [b"a=%4", b"a=%zz", b"a=%\n41", b"a=%%41", b"a=%"])
def test_a_malformed_escape_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidParameter):
        parse(body)


@pytest.mark.parametrize("body", [b"a=" + b"%41" * 1_700_000, b"a=" + b"%41%C3%A9x" * 500_000])
def test_a_large_urlencoded_form_takes_a_few_times_its_bytes(body: bytes) -> None:
    tracemalloc.start()
    try:
        parse(body)
        peak_bytes = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak_bytes < 8 * len(body)


@pytest.mark.parametrize(
    "head",
    [
        b'Content-Disposition: form-data; name="' + b'\\"' * 2_000 + b'"',
        b'Content-Disposition: form-data; name="a"\r\n' + b"x:y\r\n" * 1_000,
        b'Content-Disposition: form-data; name="a"' + b"; a*0*=b" * 1_000,
    ],
)
def test_a_part_with_a_long_head_is_refused(head: bytes) -> None:
    body = b"--form\r\n" + head + b"\r\n\r\nx\r\n--form--\r\n"
    with pytest.raises(InvalidParameter):
        parse(body, "multipart/form-data; boundary=form")
    with pytest.raises(InvalidParameter):
        parse(b"\r\n--" * 1_000 + body, "multipart/form-data; boundary=form")


def test_parts_may_hold_what_looks_like_lines_between_them() -> None:
    value = "\r\n-\r\n--for\r\n\r\n--\r\n"
    body = f'--form\r\nContent-Disposition: form-data; name="a"\r\n\r\n{value}\r\n--form--\r\n'
    assert parse(body.encode(), "multipart/form-data; boundary=form").to_dict() == {"a": value}


@pytest.mark.parametrize(
    "path", ["/api", f"/address/0x{'ab' * 20}/verify", f"/address/0x{'ab' * 20}/call"]
)
def test_no_form_may_have_any_number_of_fields(shared_server: str, path: str) -> None:
    """Half a million fields took five seconds and hundreds of megabytes on pages."""
    body = b"a&" * 20_000
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    response = requests.post(shared_server + path, data=body, headers=headers, timeout=30)
    assert "A form has at most" in response.text
