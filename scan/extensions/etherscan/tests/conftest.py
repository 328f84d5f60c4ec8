"""Asking in Etherscan's form."""

import pytest


class Asking:
    def __init__(self, client):
        self.client = client

    def __call__(self, module, action, **parameters):
        """The body; every response is JSON with HTTP 200."""
        response = self.client.get(
            "/api", query_string={"module": module, "action": action, **parameters}
        )
        assert response.status_code == 200, response.text
        return response.json

    def result(self, module, action, **parameters):
        """Of a success."""
        body = self(module, action, **parameters)
        message, _, note = body["message"].partition("-")
        assert (body["status"], message) == ("1", "OK"), body
        assert not note or note.startswith("Some balances are sums of events"), body
        return body["result"]

    def rows(self, module, action, **parameters):
        """Of a list, which may be empty."""
        body = self(module, action, **parameters)
        assert body["status"] == ("1" if body["result"] else "0"), body
        assert isinstance(body["result"], list), body
        return body["result"]


@pytest.fixture(scope="session")
def ask(client):
    return Asking(client)
