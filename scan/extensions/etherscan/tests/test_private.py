"""Keys of Etherscan's clients where access needs one: in the query or the form as `apikey`."""

from io import BytesIO

from tests.support.database import made_key
from tests.support.private_access import UNKNOWN, ask, key, private, seen  # noqa: F401

QUERY = "module=block&action=eth_block_number"


def test_the_key_is_a_parameter_of_these_forms_alone(ask, key):  # noqa: F811
    for path in ("/api", "/v2/api"):
        assert ask(f"{path}?chainid=31337&{QUERY}&apikey={key.text}").status_code == 200
        assert ask(f"{path}?chainid=31337&{QUERY}").status_code == 401
        assert ask(f"{path}?{QUERY}&apikey={UNKNOWN}").status_code == 401

    def posted(text):
        body = f"{QUERY}&apikey={text}".encode()
        length = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body)}
        form = {"CONTENT_TYPE": "application/x-www-form-urlencoded", **length}
        return ask("/api", "POST", environ=form)

    assert posted(key.text).status_code == 200
    assert seen(posted("scan_")) == seen(ask("/nowhere", "POST"))
    assert posted(UNKNOWN).status_code == 401
    for path in ("/api/v1/blocks", "/blocks"):
        assert ask(f"{path}?apikey={key.text}").status_code == 401


def test_two_keys_open_nothing(ask, key, own_index):  # noqa: F811
    other = made_key(own_index.url, 100)
    assert ask(f"/api?{QUERY}&apikey={key.text}", X_API_Key=key.text).status_code == 200
    assert ask(f"/api?{QUERY}&apikey={other.text}", X_API_Key=key.text).status_code == 401
    assert ask(f"/api?{QUERY}&apikey={key.text}&ApiKey={other.text}").status_code == 401
