"""What a query must answer, found by looking at every record."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from flask.testing import FlaskClient
from hypothesis import strategies as st

from tests.support.truth import comparable

Record = dict[str, Any]
NO_TOPIC = "0x" + 64 * "7"
MATCHED = {
    "from": "fromAddress",
    "to": "toAddress",
    "tokenAddress": "tokenAddress",
    "dex": "dex",
    "blockNumber": "blockNumber",
}
KEYS = {
    "transactions": ("address", "from", "to", "blockNumber", "blockFrom", "blockTo"),
    "blocks": ("blockFrom", "blockTo"),
    "tokens": (),
    "token_transfers": ("address", "from", "to", "tokenAddress", "blockFrom", "blockTo"),
    "dex_trades": ("address", "dex", "blockFrom", "blockTo"),
    "internal_transfers": ("address", "from", "to", "blockFrom", "blockTo"),
    "logs": ("address", "topic0", "topic1", "topic2", "topic3", "blockFrom", "blockTo"),
}


class Chain(NamedTuple):
    """Every record, newest first, and which transaction created which contract.

    Where records are not whole, they hold what tells them apart and what filters look at.
    """

    records: Mapping[str, list[Record]]
    created: Mapping[str, str]
    are_whole: bool = True

    def find(self, body: Mapping[str, Any]) -> list[Record]:
        """All records that a query's filter matches, in its order, whatever its page."""
        found = [r for r in self.records[body["entity"]] if self._matches(r, body)]
        return found[::-1] if body.get("orderBy") == "asc" else found

    def _matches(self, record: Record, body: Mapping[str, Any]) -> bool:
        return all(
            self._is(record, body["entity"], key, value)
            for key, value in body.get("filter", {}).items()
        )

    def _is(self, record: Record, entity: str, key: str, value: Any) -> bool:
        number = record.get("blockNumber", record.get("number"))
        if key == "blockFrom":
            return bool(number >= value)
        if key == "blockTo":
            return bool(number <= value)
        if entity == "logs":
            return value == (record["address"] if key == "address" else _topic(record, key))
        if key != "address":
            return bool(record[MATCHED[key]] == value)
        if entity == "dex_trades":
            return bool(record["maker"] == value)
        created = self.created.get(record.get("hash", ""))
        return value in (record["fromAddress"], record["toAddress"], created)


def _topic(log: Record, key: str) -> str | None:
    """Of a key such as topic2."""
    place = int(key.removeprefix("topic"))
    return log["topics"][place] if place < len(log["topics"]) else None


def require_same(
    client: FlaskClient, chain: Chain, whole: list[Record], body: Mapping[str, Any]
) -> None:
    """The page of the `whole` list that the body asks for, and its length where it is known."""
    answer = client.post("/api/v1/query", json=body)
    assert answer.status_code == 200, (body, answer.text)
    first = body.get("offset", 0)
    expected = whole[first : first + body.get("limit", 25)]
    found = [comparable(row) for row in answer.json["data"]]
    assert answer.json["count"] == len(found) == len(expected), body
    if not chain.are_whole:
        found = [
            {key: row.get(key, "missing") for key in wanted}
            for row, wanted in zip(found, expected, strict=True)
        ]
    assert found == expected, body
    keys = [key for key in body.get("filter", {}) if not key.startswith("block")]
    total = answer.json["total"]
    if body["entity"] == "logs":  # null also by a topic after the first, and of the node's
        assert total in (None, len(whole)), body
    else:
        assert total == (None if len(keys) > 1 else len(whole)), body


def bodies(chain: Chain) -> st.SearchStrategy[dict[str, Any]]:
    """Queries that are about this chain: most of their values stand in it."""
    return st.sampled_from(sorted(KEYS)).flatmap(lambda entity: _bodies(chain, entity))


def _bodies(chain: Chain, entity: str) -> st.SearchStrategy[dict[str, Any]]:
    values = {key: _values(chain, entity, key) for key in KEYS[entity]}
    return st.fixed_dictionaries(
        {"entity": st.just(entity)},
        optional={
            "filter": st.fixed_dictionaries({}, optional=values),
            "orderBy": st.sampled_from(["asc", "desc"]),
            "limit": st.integers(1, 100),
            "offset": st.integers(0, len(chain.records[entity]) + 5) | st.integers(0, 300),
        },
    )


def _values(chain: Chain, entity: str, key: str) -> st.SearchStrategy[Any]:
    records = chain.records[entity]
    if key.startswith("block"):
        highest = max(block["number"] for block in chain.records["blocks"])
        return st.integers(0, highest + 2)
    if entity == "logs":
        found = [r["address"] if key == "address" else _topic(r, key) for r in records]
        return st.sampled_from([value for value in found if value is not None] or [NO_TOPIC])
    if key == "address":
        fields = ["maker"] if entity == "dex_trades" else ["fromAddress", "toAddress"]
    else:
        fields = [MATCHED[key]]
    # As often as they stand there: busy addresses come often, and combinations that meet.
    seen = [record[field] for record in records for field in fields if record[field] is not None]
    if key == "address" and entity == "transactions":
        seen += list(chain.created.values())
    return st.sampled_from(seen)
