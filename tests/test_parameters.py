"""Values as clients write them; what is refused is told over HTTP in test_bad_input."""

import json

import pytest

from scan import json_bodies, parameters
from scan.errors import InvalidJson, InvalidParameter, TooLarge
from scan.http.list_responses import window_of

pytestmark = pytest.mark.check

BIGGEST = 2**63 - 1


@pytest.mark.parametrize(
    ("arguments", "limit", "offset"),
    [
        ({}, 25, 0),
        ({"page": "3", "limit": "7"}, 7, 14),
        ({"limit": "100", "page": "0002"}, 100, 100),
        ({"page": str(BIGGEST), "limit": "1"}, 1, BIGGEST - 1),
        ({"page": str(BIGGEST), "limit": "100"}, 100, BIGGEST),
    ],
)
def test_pages(arguments, limit, offset):
    window = window_of(arguments)
    assert (window.limit, window.offset) == (limit, offset)


@pytest.mark.parametrize(
    ("value", "first_s", "last_s"),
    [
        ("2026-01-31T00:00:01Z", 1_769_817_601, 1_769_817_601),
        ("2026-01-31T00:00:01.25Z", 1_769_817_602, 1_769_817_601),
        ("1769817601", 1_769_817_601, 1_769_817_601),
        ("2026-01-31T02:00:01+02:00", 1_769_817_601, 1_769_817_601),
        ("2026-01-31T02:00:01 02:00", 1_769_817_601, 1_769_817_601),  # a + that was not escaped
        ("2026-01-30T18:30:01.5-0530", 1_769_817_602, 1_769_817_601),
        ("2026-01-31t00:00:01z", 1_769_817_601, 1_769_817_601),  # RFC 3339 allows small letters
        ("2026-01-31T01:30+01:30", 1_769_817_600, 1_769_817_600),
        ("2026-01-31", 1_769_817_600, 1_769_903_999),  # the day
    ],
)
def test_times_with_a_fraction_are_rounded_into_their_range(value, first_s, last_s):
    assert parameters.time_s(value, "blockTimeFrom") == first_s
    assert parameters.time_s(value, "blockTimeTo", is_upper=True) == last_s


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"{}", {}),
        (b' \n{"a": 1}\t', {"a": 1}),
        ('{"ä": "\U0001f984"}'.encode(), {"ä": "\U0001f984"}),
        (b'{"a": 1e400}', {"a": float("inf")}),
        (b'{"a": ' + 400 * b"9" + b"}", {"a": int(400 * "9")}),
    ],
)
def test_json_objects(body, value):
    assert json_bodies.json_object(body) == value


@pytest.mark.parametrize(
    "value", ["[]", "{}", '""', "1", '{"":{}}', "[[[]]]", '"\\\\"', '"\\"","', '"\\\\\\""']
)
def test_values_are_counted_before_they_are_parsed(value):
    """Which would find that there is no name before the list."""
    body = f"{{[{', '.join([value] * json_bodies.MOST_JSON_VALUES)}]}}".encode()
    with pytest.raises(TooLarge, match="30,000 values"):
        json_bodies.json_object(body)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("[" * 100 + "]" * 100, "deeper than 100 levels"),
        ('{"a":' * 100 + "1" + "}" * 100, "deeper than 100 levels"),
        ("[" * 20_000 + "]" * 20_001, "cannot be parsed"),
        ("]" * 1000, "cannot be parsed"),
        ("9" * 1001, "more than 1,000 digits"),
        ("[" + "8" * 1000 + "," + " " * 700 + "9" * 1001 + "]", "more than 1,000 digits"),
        ("[" + "1," * 10 + "-0." + "1" * 1001 + "]", "more than 1,000 digits"),
    ],
)
def test_deep_nesting_and_long_numbers_are_refused(value, reason):
    with pytest.raises(InvalidJson, match=reason):
        json_bodies.json_object(f'{{"a": {value}}}'.encode())


@pytest.mark.parametrize(
    "value",
    [
        "[" * 99 + "]" * 99,
        "9" * 1000,
        "[" + "9" * 1000 + "," + "9" * 1000 + "]",
        '"' + "[9" * 2000 + '"',
    ],
)
def test_what_is_within_bounds_is_parsed(value):
    assert json_bodies.json_object(f'{{"a": {value}}}'.encode()) == {"a": json.loads(value)}


@pytest.mark.parametrize(
    "source",
    ["uint[] x = [1, 2];{ }", 'string s = "a\\"b\\\\";', '"' * 10, "\\", '\\"', "é, 🦄, \\u0022,"],
)
@pytest.mark.parametrize("is_ascii", [True, False])
def test_what_stands_in_strings_is_no_value(source, is_ascii):
    """A megabyte of source, as it stands and in a standard JSON input that is itself text."""
    sources = {f"{number}.sol": {"content": source * 10_000} for number in range(10)}
    for body in (sources, {"sourceCode": json.dumps(sources, ensure_ascii=is_ascii)}):
        assert json_bodies.json_object(json.dumps(body, ensure_ascii=is_ascii).encode()) == body


def test_a_repeated_key_is_told():
    with pytest.raises(InvalidJson, match="more than once"):
        json_bodies.json_object(b'{"a": {"b": 1, "b": 1}}')


def test_unknown_keys_are_told_with_those_allowed():
    json_bodies.only_known({"a": 1}, ("a", "b"), "key")
    with pytest.raises(InvalidParameter, match=r"'as'; did you mean a\? allowed: a, b"):
        json_bodies.only_known({"as": 1}, ("a", "b"), "key")
    with pytest.raises(InvalidParameter, match=r"'c'; allowed: a, b") as caught:
        json_bodies.only_known({"a": 1, "c": 1}, ("a", "b"), "key")
    assert caught.value.field == "c"
