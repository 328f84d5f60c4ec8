"""Where programs look first: llms.txt, the catalogue of APIs, who is told of security problems."""

from datetime import UTC, datetime, timedelta

import pytest

from scan.ethereum.text_cleaning import WRITTEN_BY_STRANGERS
from scan.settings import Brand
from tests.support.indexing import client_over
from tests.support.openapi_document import DOCUMENT


@pytest.fixture(scope="module")
def client(shared_database_url):
    brand = Brand(security_contact="mailto:security@example.org")
    return client_over(shared_database_url, brand=brand)


def test_llms_txt_names_every_operation_in_the_form_of_its_convention(client):
    response = client.get("/llms.txt")
    assert response.content_type.startswith("text/plain")
    lines = response.text.splitlines()
    assert lines[0] == "# Scan" and lines[2].startswith("> ")
    for path, methods in DOCUMENT["paths"].items():
        for method in methods.keys() & {"get", "post", "patch", "delete"}:
            assert f"`{method.upper()} {path}`" in response.text
    assert len(response.text) < 16_000
    assert WRITTEN_BY_STRANGERS in response.text


def test_links_of_llms_txt_and_the_catalogue_lead_somewhere(client):
    links = [part.partition(")")[0] for part in client.get("/llms.txt").text.split("](")[1:]]
    catalog = client.get("/.well-known/api-catalog")
    assert catalog.content_type.startswith("application/linkset+json")
    for context in catalog.json["linkset"]:
        links.append(context["anchor"])
        for relation in ("item", "service-desc", "service-doc", "status"):
            links += [target["href"] for target in context.get(relation, ())]
    assert "/mcp" in links and "/api/v1/openapi.json" in links
    for link in set(links) - {"/api/v1", "/v2"}:  # prefixes, without a resource of their own
        assert client.get(link).status_code in (200, 405), link


def test_the_catalogue_announces_itself_to_head(client):
    response = client.head("/.well-known/api-catalog")
    assert response.headers["Link"] == '</.well-known/api-catalog>; rel="api-catalog"'


def test_security_txt_has_the_operators_contact_and_expires_within_a_year(client):
    fields = dict(
        line.split(": ", 1) for line in client.get("/.well-known/security.txt").text.splitlines()
    )
    assert fields["Contact"] == "mailto:security@example.org"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)


def test_without_a_contact_there_is_no_security_txt(shared_database_url):
    client = client_over(shared_database_url)
    response = client.get("/.well-known/security.txt")
    assert (response.status_code, response.json["code"]) == (404, "not_found")


def test_none_of_them_is_charged(client):
    for path in ("/llms.txt", "/.well-known/api-catalog", "/.well-known/security.txt"):
        for _ in range(130):  # pages have 120 a minute
            assert client.get(path).status_code == 200
