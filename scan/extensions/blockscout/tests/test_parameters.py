"""Parameters of API v2: each that Blockscout documents changes the rows or is refused."""

import re
import tomllib
from functools import cache

import pytest

from scan.extensions.blockscout.paths import CREDENTIALS, TABLE, answered_paths
from scan.extensions.blockscout.tests import asking, blockscout_document, published

pytestmark = pytest.mark.thorough

REFUSED = [
    path
    for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["refused"]
    for path in row["paths"].split()
]
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


def values_of(type_):
    for alternative in type_.split(" | "):
        if alternative in published.OBJECTS:
            yield from (value.removeprefix("=") for value in published.OBJECTS[alternative])
        elif alternative.startswith("="):
            yield alternative.removeprefix("=")
        else:
            yield from VALUES.get(alternative, ())


@pytest.fixture(scope="session")
def rules(client):
    """The rules of the application's paths by the routes that are published."""
    listed = [rule.rule for rule in client.application.url_map.iter_rules()]
    return {published.route_of(rule): rule for rule in listed}


@pytest.fixture
def paths(rules, examples, route):
    if route not in rules:
        pytest.skip("its extension is taken away")
    return asking.filled(rules[route], examples)


@pytest.fixture(scope="session")
def plain(client):
    """The response of a path without parameters, which many parameters are compared with."""
    return cache(lambda path: client.get(path, query_string=asking.REQUIRED.get(path)))


# Names and metadata of addresses of other services, which are null; what their clients show of a
# filter; rows without value, of which the index has few; what a filter's value is of. The order of
# tokens is kept where the index has none of another, as Blockscout does with unknown ones.
# Parameters of lists without rows in the scenario. Their own tests have those with rows.
@pytest.mark.parametrize(
    ("route", "name", "type_"),
    [
        (route, name, type_)
        for route, parameters in published.PARAMETERS.items()
        for name, type_ in parameters.items()
        if name
        not in {
            "/api/v2/addresses/{}/internal-transactions/csv": "filter_type",
            "/api/v2/addresses/{}/token-transfers/csv": "filter_type",
            "/api/v2/addresses/{}/transactions/csv": "filter_type",
            "/api/v2/advanced-filters": "age methods_names"
            " token_contract_symbols_to_exclude token_contract_symbols_to_include",
            "/api/v2/advanced-filters/csv": "methods_names"
            " token_contract_symbols_to_exclude token_contract_symbols_to_include",
            "/api/v2/blocks/{}/internal-transactions": "include_zero_value",
            "/api/v2/internal-transactions": "include_zero_value",
            "/api/v2/tokens": "sort",
            "/api/v2/transactions/{}/internal-transactions": "include_zero_value",
            "/api/v2/transactions/{}/preview": "preload_ens preload_metadata",
        }.get(route, "").split()
        and not re.compile(
            r"/(?:beacon/deposits|withdrawals|operations|messages/from-rollup|smart-contracts)\?|/search\?[^q]"
        ).search(f"{route}?{name}")
    ],
)
def test_a_documented_parameter_changes_the_answer_or_is_refused(
    client, plain, paths, route, name, type_
):
    def is_refused_or_changes(path, value):
        query = {**asking.REQUIRED.get(path, {}), name: value}
        response = client.get(path, query_string=query)
        if response.status_code == 422:
            assert not [*published.ERRORS.iter_errors(response.json)]
            return True
        assert response.status_code in (200, 404), (path, query, response.text)
        return response.data != plain(path).data

    answered = [path for path in paths if plain(path).status_code == 200]
    values = [*values_of(type_)]
    assert any(is_refused_or_changes(path, value) for path in answered for value in values)


def test_an_unknown_parameter_is_refused_everywhere(client, rules, examples):
    fault = {"title": "Invalid value", "source": {"pointer": "/never_heard"}}
    fault["detail"] = "Unexpected field: never_heard"
    more = {"operation_hash": ["0x" + "9d" * 32], "method": ["flattened-code"]}
    prefixes = (f"{published.PREFIX}/", f"{published.STATS_PREFIX}/")
    own = [rule for route, rule in rules.items() if route.startswith(prefixes)]
    assert len(own) > 50
    for rule in own:
        path = asking.filled(rule, examples | more)[0]
        method = answered_paths()[rule.removeprefix(published.PREFIX)].method
        refused = client.open(
            path, method=method, query_string={"never_heard": "1", "nor_this": "1"}
        )
        assert (refused.status_code, refused.json) == (422, {"errors": [fault]}), path


def test_credentials_and_empty_values_are_no_parameters(client):
    plain = client.get("/api/v2/blocks").json
    for query in (dict.fromkeys(CREDENTIALS, "x"), {"never_heard": "", "market_cap": "null"}):
        assert client.get("/api/v2/blocks", query_string=query).json == plain


@pytest.mark.check
def test_the_guide_has_the_table():
    made = blockscout_document.whole()
    listed = blockscout_document.DOCUMENT.read_text(encoding="utf-8")
    assert listed == made, "run python -m scan.extensions.blockscout.tests.blockscout_document"


@pytest.mark.check
def test_every_documented_path_is_in_the_table():
    table = {published.route_of(path) for path in (*answered_paths(), *REFUSED)}
    assert {*published.PATHS["answers"], *published.PATHS["others"]} <= table
    assert not {published.route_of(p) for p in answered_paths()} & {
        published.route_of(p) for p in REFUSED
    }


def test_no_path_is_answered_that_the_table_refuses(rules):
    assert not {f"{published.PREFIX}{published.route_of(path)}" for path in REFUSED} & rules.keys()
