"""Forms in Etherscan's form of the API: whose key they hold, and what a large one may cost."""

from urllib.parse import urlencode

import pytest

from scan.http.credentials import key_in_form

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
