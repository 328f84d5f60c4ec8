"""POST /api/v1/query with bodies that are wrong, or odd but right."""

import codecs
import gzip
import json
from itertools import product

import pytest

from tests.support.refusals import ADDRESS, NOT_ADDRESSES, require_parameter, require_refusal
from tests.support.value_names import shown

PATH = "/api/v1/query"
ENTITIES = tuple(
    "transactions blocks tokens token_transfers dex_trades internal_transfers logs"
    " user_operations events".split()
)
ORDERS = ("asc", "desc")
NOT_INTEGERS = [
    *(None, True, False, 1.0, 1.5, -0.0, 1e3, "1", "", "0x1", [], [1], {}, {"a": 1}, 2**63, 2**64),
    *(10**400, -(2**63) - 1),
]


def send(client, body, content_type="application/json"):
    return client.post(PATH, data=body, content_type=content_type)


def ask(client, **body):
    return client.post(PATH, json=body)


BODY = b'{"entity": "blocks"}'


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b" ", b"{", b"}", b"nonsense", b"{'entity': 'blocks'}", b'{"entity": "blocks",}'),
        *(
            b'{"entity": "blocks"} {}',
            b'{"entity" "blocks"}',
            b'{entity: "blocks"}',
            b"\0",
            b"null",
        ),
        *(b"true", b"1", b'"blocks"', b"[]", b'[{"entity": "blocks"}]', b"NaN", b'{"limit": NaN}'),
        *(b'{"limit": Infinity}', b'{"limit": -Infinity}', b'{"limit": 01}', b'{"entity": "\xff"}'),
        *(b'{"entity": "\xed\xa0\x80"}', b'{"limit": +1}', b'{"limit": 0x1}'),
        *('{"entity": "blocks"}'.encode("utf-16"), b'{"entity": "blocks", "entity": "tokens"}'),
        *(b'{"entity": "blocks", "filter": {"blockFrom": 1, "blockFrom": 2}}', b"[" * 20_000),
        *(b'{"a":' * 20_000, b'{"a":' * 5_000 + b"1" + b"}" * 5_000),
        *(b'{"limit": ' + 5_000 * b"9" + b"}", b'{"entity": "blocks\n"}', b"entity=blocks"),
    ],
    ids=shown,
)
def test_bodies_that_are_no_json_object(client, body):
    require_refusal(send(client, body), 400, "invalid_json")


def test_bodies_are_declared_as_json(client):
    for kind in ("", "text/plain", "application/x-www-form-urlencoded", "text/json"):
        require_refusal(send(client, BODY, kind), 415, "unsupported_media_type")
    require_refusal(send(client, BODY, "multipart/form-data"), 415, "unsupported_media_type")
    for kind in ("APPLICATION/JSON", "application/json; charset=utf-8", "application/a+json"):
        assert send(client, BODY, kind).status_code == 200
    require_refusal(send(client, BODY, "text/plain"), 415, "unsupported_media_type")  # once cached
    # RFC 8259 lets readers ignore one byte order mark.
    assert send(client, codecs.BOM_UTF8 + BODY).json == send(client, BODY).json
    require_refusal(send(client, 2 * codecs.BOM_UTF8 + BODY), 400, "invalid_json")


def test_compressed_bodies_are_refused_as_such(client):
    def post(body, encoding):
        headers = {"Content-Type": "application/json", "Content-Encoding": encoding}
        return client.post(PATH, data=body, headers=headers)

    require_refusal(post(gzip.compress(BODY), "gzip"), 415, "unsupported_media_type")
    assert post(BODY, "identity").status_code == 200


def test_bodies_of_a_mebibyte_at_most(client):
    mib = 1024 * 1024
    assert send(client, BODY.ljust(mib)).status_code == 200
    for size in (mib + 1, 2 * mib):
        require_refusal(send(client, BODY.ljust(size)), 413, "too_large")


@pytest.mark.parametrize("value", [None, 1, [], {}, "", "Blocks", "blocks "], ids=shown)
def test_the_entity_is_one_of_those_there_are(client, value):
    body = require_refusal(ask(client, entity=value), 400, "invalid_parameter", "entity")
    assert all(entity in body["error"] for entity in ENTITIES)


@pytest.mark.parametrize("key", ["orderby", "page", "", "\0", "\ud800"])
def test_unknown_keys_of_the_body(client, key):
    answer = send(client, json.dumps({"entity": "blocks", key: 1}).encode())
    body = require_refusal(answer, 400, "invalid_parameter", key.replace("\ud800", "?"))
    assert "entity, filter, orderBy, limit, offset" in body["error"]


REFUSED = [
    *(
        ({"entity": entity, "filter": value}, "filter")
        for entity in ENTITIES
        for value in (None, 1, True, "", "blockFrom", [], [{"blockFrom": 1}])
    ),
    *(({name: v}, name) for name in ("limit", "offset") for v in (*NOT_INTEGERS, -1)),
    *(({"filter": {"timeFrom": v}}, "timeFrom") for v in (True, 1.5, None, [], -1, 10**12)),
    *(({"limit": value}, "limit") for value in (0, 101, 1000, 2**63 - 1)),
    *(({"orderBy": v}, "orderBy") for v in (None, 1, True, "", "ASC", "Desc", "asc ", ["asc"], {})),
    *(
        ({"entity": "transactions", "filter": {name: value}}, name)
        for names, values in (
            (("nonce",), (None, True, 1.5, -1, 2**63, "0x1", "", [], {})),
            (("blockFrom", "blockTo", "blockNumber"), (*NOT_INTEGERS, -1)),
            (("address", "from", "to"), (*NOT_ADDRESSES, None, 1, True, [], {}, [ADDRESS])),
        )
        for name in names
        for value in values
    ),
    *(
        ({"entity": "token_transfers", "filter": {"tokenAddress": value}}, "tokenAddress")
        for value in (*NOT_ADDRESSES, None, 1, True, [], {}, [ADDRESS])
    ),
    *(
        ({"entity": "dex_trades", "filter": {"dex": value}}, "dex")
        for value in (
            *(None, 1, True, [], {}, "a\0b", "\0", 101 * "x", 10_000 * "x", "\ud800", "a\udfff"),
        )
    ),
]


@pytest.mark.parametrize("field", sorted({field for _, field in REFUSED}))
def test_values_that_are_refused_and_named(client, field):
    for body in (body for body, of_field in REFUSED if of_field == field):
        answer = send(client, json.dumps({"entity": "blocks", **body}).encode())
        assert answer.status_code == 400, (str(body)[:100], answer.text)
        require_parameter(answer, field)


def test_lists_of_nothing_are_empty(client):
    """Of exchanges nobody knows, of ranges without blocks, and beyond the end of a list."""
    no_exchanges = [
        *("", "Uniswap-V2", "uniswap-v2 ", "%", "_", "\\", "$1", "%(dex)s"),
        *("'; DROP TABLE blocks; --", "\u0130", "\U0001f984", 100 * "x"),
    ]
    bodies = [{"entity": "dex_trades", "filter": {"dex": dex}} for dex in no_exchanges]
    no_blocks = [(5, 4), (2**63 - 1, 0), (1_000_000, 2_000_000), (2**63 - 1, 2**63 - 1)]
    of_blocks = {*ENTITIES} - {"tokens", "user_operations", "events"}
    for entity, (first, last), order in product(of_blocks, no_blocks, ORDERS):
        blocks = {"blockFrom": first, "blockTo": last}
        bodies.append({"entity": entity, "filter": blocks, "orderBy": order})
    nothing = {"count": 0, "data": [], "next": None}
    more = {"internal_transfers": {"untracedBlocks": 0}}
    for body in bodies:
        answer = ask(client, **body).json
        assert answer.pop("total") in {"logs": (0, None)}.get(body["entity"], (0,)), body
        assert answer == {"entity": body["entity"], **nothing, **more.get(body["entity"], {})}
    for entity, offset in product(sorted({*ENTITIES} - {"events"}), (10_000, 2**63 - 1)):
        answer = ask(client, entity=entity, offset=offset).json
        assert (answer.pop("total") is None) is (entity == "logs")
        assert answer == {"entity": entity, **nothing, **more.get(entity, {})}


@pytest.mark.parametrize("order", ORDERS)
def test_block_0_is_a_block(client, order):
    for filters in ({"blockTo": 0}, {"blockFrom": 0, "blockTo": 0}):
        answer = ask(client, entity="blocks", filter=filters, orderBy=order).json
        assert [block["number"] for block in answer["data"]] == [0]
    whole = ask(client, entity="blocks", orderBy=order).json
    assert ask(client, entity="blocks", filter={"blockFrom": 0}, orderBy=order).json == whole
