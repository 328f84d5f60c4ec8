"""Keys of every list of the seeded database: one that many records have, and one that few have."""

from collections import namedtuple

import pytest

from scan.database.lists import all_entities
from scan.queries.filter_values import FILTERS, QUERIED
from tests.support import brute_force
from tests.support.lists import post

# The filters by which an entity has a list; counterparties are those of PAIRS, makers addresses.
LISTED = [
    (entity, filter_.key)
    for entity in QUERIED
    for filter_ in FILTERS[entity]
    if filter_.param in all_entities()[entity].listed
    and filter_.key not in ("counterparty", "maker", "paymaster")
]


class Seeded(namedtuple("Seeded", "service hot rare")):
    """`hot`: what most records match, by entity and filter key; `rare`: of some seen lately, what
    has the shortest list."""

    @property
    def url(self):
        return self.service.url

    def value(self, entity, key, heat):
        return (self.hot if heat == "hot" else self.rare)[entity, key]


@pytest.fixture(scope="module")
def seeded(seeded_service):
    hot, rare = {}, {}
    for entity, key in LISTED:
        records = query(seeded_service.client, entity, {}, 100)["data"]
        listed = [brute_force.LISTED_BY[entity, key](record, {}) for record in records]
        values = [[value for value in of_record if value][-1] for of_record in listed]
        hot[entity, key] = max(values, key=values.count)
        lengths = {
            value: query(seeded_service.client, entity, {key: value}, 100)["count"]
            for value in sorted(set(values[:20]))
        }
        rare[entity, key] = min(lengths, key=lengths.__getitem__)
    return Seeded(seeded_service, hot, rare)


def query(client, entity, filters, limit, offset=0):
    body = {"entity": entity, "filter": filters, "offset": offset, "limit": limit}
    return post(client, "/query", **body)
