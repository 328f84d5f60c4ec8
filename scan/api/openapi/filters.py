"""Filters of lists as fields, and of each entity the schemas of its query and of the answer.

They follow from sql/lists.toml; [filters] of openapi.toml has the field of each kind of filters.
"""

from collections.abc import Iterator
from functools import cache

from scan.api.openapi.declarations import Json, declared
from scan.api.openapi.schemas import field, record, ref
from scan.api.query import FILTER_KEYS as QUERIED
from scan.database.lists import Filter, all_entities, begins_late, of_kind
from scan.parameters import MAX_LIMIT
from scan.queries.filters import FILTERS

TABLE = "[filters] of scan/api/openapi/shared.toml"


@cache
def filter_schemas() -> Json:
    """Return the schemas of filters by key."""
    return {filter_.key: _schema(filter_) for filters in FILTERS.values() for filter_ in filters}


def _schema(filter_: Filter) -> Json:
    kind = f"one of {', '.join(filter_.choices)}" if filter_.choices else None
    schema = field(kind or of_kind(filter_.kind, declared("filters"), TABLE))
    return {**schema, "description": filter_.description}


def query_schemas() -> Json:
    """Return the schemas of queries and of their answers, by entity and of all together."""
    names = {entity: entity.title().replace("_", "") for entity in QUERIED}
    return {
        **{f"{name}Query": _query(entity) for entity, name in names.items()},
        **{f"{name}Answer": _answer(entity, name) for entity, name in names.items()},
        "Query": _by_entity("A query.", {e: f"{name}Query" for e, name in names.items()}),
        "QueryAnswer": _by_entity(
            "The result of a query.", {e: f"{name}Answer" for e, name in names.items()}
        ),
    }


def _query(entity: str) -> Json:
    return record(
        {
            "_form": True,
            "entity": ["any", "The entity.", {"const": entity}],
            "filter?": dict(_filters(entity)) | {"_text": "All must match.", "_form": True},
            "orderBy?": "QueryOrder",
            "limit?": "QueryLimit",
            "offset?": "QueryOffset",
            "cursor?": "QueryCursor",
        }
    )


def _filters(entity: str) -> Iterator[tuple[str, Json]]:
    """Yield the fields of filters, and those of ranges, which have schemas: BlockFrom."""
    for key in QUERIED[entity]:
        yield f"{key}?", filter_schemas().get(key) or ref(key[0].upper() + key[1:])


def _answer(entity: str, name: str) -> Json:
    declared_entity = all_entities().get(entity)
    has_untraced = declared_entity is not None and declared_entity.extra is not None
    return record(
        {
            "entity": ["any", "The entity.", {"const": entity}],
            "count": "QueryCount",
            "data": [f"list of {name.removesuffix('s')}", "The records.", {"maxItems": MAX_LIMIT}],
            "total": "QueryTotal",
            **({"untracedBlocks": "UntracedBlocks"} if has_untraced else {}),
            "keptFrom?": "KeptFrom",
            **({"completeFrom?": "CompleteFrom"} if begins_late(entity) else {}),
            "next": "Next",
        }
    )


def _by_entity(description: str, names: dict[str, str]) -> Json:
    schemas = {entity: ref(name) for entity, name in names.items()}
    mapping = {entity: schema["$ref"] for entity, schema in schemas.items()}
    return {
        "description": description,
        "oneOf": [*schemas.values()],
        "discriminator": {"propertyName": "entity", "mapping": mapping},
    }
