"""Parameters of API v2: each that Blockscout documents changes the rows or is refused."""

import pytest

from scan.extensions.blockscout.paths import CREDENTIALS, answered_paths, refused_paths
from scan.extensions.blockscout.tests import blockscout_document, published, test_responses

pytestmark = pytest.mark.thorough

UNSEEN = "0x" + "9d" * 20
# Values of each type of which one at least changes an answer that has rows.
VALUES = {
    "address": (UNSEEN,),
    "boolean": ("true", "false"),
    "date": ("2001-01-01", "2100-01-01"),
    "decimal": ("0.5",),
    "digits": ("1",),
    "hash": ("0x" + "9d" * 32,),
    "hex": ("0x" + "9d" * 32,),
    "integer": ("1",),
    "period": ("2001-01-01", "2100-01-01"),
    "object": ("{}",),
    "text": ("zzzz", "1", UNSEEN, "2001-01-01T00:00:00Z", "ERC-404", "0xffffffff", "and"),
    "time": ("2001-01-01T00:00:00.000000Z",),
    "token types": ("ERC-404",),
}
# Names and metadata of addresses of other services, which are null; what their clients show of a
# filter; rows without value, of which the index has few; what a filter's value is of.
CHANGES_NOTHING = frozenset(
    "age filter_type preload_ens preload_metadata methods_names include_zero_value"
    " token_contract_symbols_to_include token_contract_symbols_to_exclude".split()
)
# Which keep their order where the index has none of another, as Blockscout does with unknown ones.
KEEP_THEIR_ORDER = ("/api/v2/smart-contracts", "/api/v2/tokens")


def values_of(type_):
    for alternative in type_.split(" | "):
        if alternative in published.OBJECTS:
            yield from (value.removeprefix("=") for value in published.OBJECTS[alternative])
        elif alternative.startswith("="):
            yield alternative.removeprefix("=")
        else:
            yield from VALUES.get(alternative, ())


def documented():
    return [
        (route, name, type_)
        for route, parameters in published.PARAMETERS.items()
        for name, type_ in parameters.items()
    ]


@pytest.fixture(scope="session")
def rules(client):
    """The rules of the application's paths by the routes that are published."""
    listed = [rule.rule for rule in client.application.url_map.iter_rules()]
    return {published.route_of(rule): rule for rule in listed}


@pytest.fixture(scope="session")
def plain_responses():
    """Responses without parameters by path, each of which many parameters are compared with."""
    return {}


@pytest.mark.parametrize(("route", "name", "type_"), documented())
def test_a_documented_parameter_changes_the_answer_or_is_refused(
    client, plain_responses, rules, examples, route, name, type_
):
    if route not in rules:  # its extension is taken away
        return
    values = [*values_of(type_)]
    assert values, type_
    paths = test_responses.filled(rules[route], examples)
    changes_nothing = name in CHANGES_NOTHING or (
        name in ("sort", "order") and route in KEEP_THEIR_ORDER
    )
    if changes_nothing:  # no other value or path says more
        values, paths = values[:2], paths[:2]
    answered = []
    for path in paths:
        more = {"scale": "30d"} if route.endswith("/hot-smart-contracts") else {}
        if path not in plain_responses:
            plain_responses[path] = client.get(path, query_string=more)
        plain = plain_responses[path]
        if plain.status_code != 200 or not _rows(plain):
            continue
        for value in values:
            response = client.get(path, query_string={**more, name: value})
            if response.status_code == 422:
                assert not [*published.ERRORS.iter_errors(response.json)]
                return
            assert response.status_code in (200, 404), (path, name, value, response.text)
            if response.data != plain.data:
                return
        answered.append(path)
    assert not answered or changes_nothing, (route, name, values, answered[:3])


def _rows(response):
    body = response.json if response.is_json else response.text.splitlines()[1:]
    return body.get("items", body) if isinstance(body, dict) else body


def test_an_unknown_parameter_is_refused_everywhere(client, rules, examples):
    fault = {"title": "Invalid value", "source": {"pointer": "/never_heard"}}
    fault["detail"] = "Unexpected field: never_heard"
    for route, rule in rules.items():
        if route.startswith((f"{published.PREFIX}/", "/stats-service/")):
            more = {"operation_hash": ["0x" + "9d" * 32], "method": ["flattened-code"]}
            path = test_responses.filled(rule, examples | more)[0]
            method = answered_paths()[rule.removeprefix(published.PREFIX)].method
            refused = client.open(path, method=method, query_string={"never_heard": "1"})
            assert (refused.status_code, refused.json) == (422, {"errors": [fault]}), path


def test_credentials_and_empty_values_are_no_parameters(client):
    plain = client.get("/api/v2/blocks").json
    for query in (dict.fromkeys(CREDENTIALS, "x"), {"never_heard": "", "market_cap": "null"}):
        assert client.get("/api/v2/blocks", query_string=query).json == plain


def test_a_parameter_that_a_view_does_not_read_is_refused(client):
    """So that a new view cannot ignore what its path takes."""
    refused = client.get("/api/v2/smart-contracts?q=a&cursor=1")
    assert refused.status_code == 422 and not [*published.ERRORS.iter_errors(refused.json)]
    assert refused.json["errors"][0]["source"] == {"pointer": "/cursor"}


@pytest.mark.check
def test_the_guide_has_the_table():
    made = blockscout_document.whole()
    listed = blockscout_document.DOCUMENT.read_text(encoding="utf-8")
    assert listed == made, "run python -m scan.extensions.blockscout.tests.blockscout_document"


@pytest.mark.check
def test_every_documented_path_is_in_the_table():
    table = {published.route_of(path) for path in (*answered_paths(), *refused_paths())}
    assert {*published.PATHS["answers"], *published.PATHS["others"]} <= table
    assert not {published.route_of(p) for p in answered_paths()} & {
        published.route_of(p) for p in refused_paths()
    }


def test_no_path_is_answered_that_the_table_refuses(rules):
    assert (
        not {f"{published.PREFIX}{published.route_of(path)}" for path in refused_paths()}
        & rules.keys()
    )
