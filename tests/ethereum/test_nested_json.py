"""JSON beyond the depth that parsers take: read in parts as others read a whole, and bounded."""

import json
from functools import partial

import pytest

from scan.ethereum import nested_json, transport
from scan.ethereum.node_errors import AnswerTooLarge, RpcError


def nested(levels):
    return b'{"a":[' * (levels // 2) + b"7" + b"]}" * (levels // 2)


@pytest.mark.parametrize("changed", [b"", b"[", b"}", b'"', b"\\"])
def test_a_text_is_read_in_parts_as_it_is_as_a_whole(changed):
    def outcome(parse, text):
        try:
            return parse(text)
        except ValueError:
            return ValueError

    whole = (
        rb' {"calls":[{"a\"[":["\\",[],{"b}":[1,[{}, "\u005d"]]}],"calls":[{"x":"]"}]}],"":{"":9}} '
    )
    parse = partial(nested_json.parse, part_levels=2)
    assert parse(whole) == json.loads(whole)
    for index in range(len(whole)):
        text = whole[:index] + changed + whole[index + 1 :]
        assert outcome(parse, text) == outcome(json.loads, text), text
        assert outcome(parse, whole[:index]) == outcome(json.loads, whole[:index])


def test_levels_are_bounded():
    value, levels = nested_json.parse(nested(nested_json.MOST_LEVELS)), 0
    while value != 7:
        [value] = value.values() if isinstance(value, dict) else value
        levels += 1
    assert levels == nested_json.MOST_LEVELS
    for text in (nested(nested_json.MOST_LEVELS + 2), b"[" * 10**5):
        with pytest.raises(AnswerTooLarge, match="nested too deeply"):
            transport.read_answer(text, 1 << 20, raw=False)


def test_an_error_that_nests_deeply_is_one():
    text = b'{"id":0,"error":{"message":%s}}' % nested(2000)
    [error] = transport.results_of(transport.read_answer(text, 1 << 20, raw=True), 1)
    assert isinstance(error, RpcError) and error.words == "an object"
