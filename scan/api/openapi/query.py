"""POST /query: its operation, and a schema of the query and of the answer for each entity."""

from scan.api.openapi.filtered_lists import FILTER_SCHEMAS
from scan.api.openapi.records import UNTRACED_BLOCKS
from scan.api.openapi.schemas import (
    BIGINT,
    SCALARS,
    TOKEN_EXAMPLE,
    Json,
    array,
    form,
    nullable,
    number,
    one_of,
    operation,
    range_filters,
    record,
    ref,
    sends,
    text,
    time,
)
from scan.api.query import FILTER_KEYS
from scan.database.lists import begins_late
from scan.parameters import DEFAULT_LIMIT, MAX_LIMIT
from scan.queries.cursors import MAX_CURSOR
from scan.queries.pages import MAX_ENTRIES, MAX_UNLISTED_ENTRIES


def _schema_name(entity: str) -> str:
    """Return the name of an entity in schemas: TokenTransfers for token_transfers."""
    return "".join(word.capitalize() for word in entity.split("_"))


ENTITIES = {entity: _schema_name(entity).removesuffix("s") for entity in FILTER_KEYS}

PATHS: Json = {
    "/query": operation(
        "post", "query", "Query eight entities by filter, in either order", ref("QueryAnswer"),
        description="Ordered by (block, index in block), tokens by (holderCount, address)."
        " Without a filter, with a range of blocks, or with one other key in any range, every"
        " offset takes the same time, and total is exact. With several other keys total is"
        " null, and queries that take too long return 503: narrow them by blockFrom and"
        " blockTo. Logs that are not stored are read from the node, including those before the"
        " page. internal_transfers return 404 if no traces were read.",
        body=sends(
            ref("Query"),
            newest={"entity": "transactions"},
            filtered={
                "entity": "token_transfers",
                "filter": {"tokenAddress": TOKEN_EXAMPLE, "blockFrom": 100, "blockTo": 200},
                "orderBy": "asc",
                "limit": 50,
                "offset": 0,
            },
        ),
        errors=(404, 409, 502),
    ),
}  # fmt: skip


_FILTERS: Json = {**FILTER_SCHEMAS, "blockNumber": number("The block.", 17), **range_filters()}


def _query(entity: str) -> Json:
    filters = {key: _FILTERS[key] for key in FILTER_KEYS[entity]}
    return form(
        "",  # the field `entity` describes it
        {
            "entity": {"const": entity, "description": "The entity."},
            "filter": form("All must match.", filters, ()),
            "orderBy": ref("QueryOrder"),
            "limit": ref("QueryLimit"),
            "offset": ref("QueryOffset"),
            "cursor": ref("QueryCursor"),
        },
        ("entity",),
    )


def _answer(entity: str) -> Json:
    untraced = {"untracedBlocks": UNTRACED_BLOCKS} if entity == "internal_transfers" else {}
    return record(
        "",
        {
            "entity": {"const": entity, "description": "The entity."},
            "count": ref("QueryCount"),
            "data": array(ref(ENTITIES[entity]), "The records.", maxItems=MAX_LIMIT),
            "total": ref("QueryTotal"),
            **untraced,
            "keptFrom": ref("KeptFrom"),
            **({"completeFrom": ref("CompleteFrom")} if begins_late(entity) else {}),
            "next": ref("Next"),
        },
        optional=("keptFrom", "completeFrom"),
    )


def _by_entity(description: str, ending: str) -> Json:
    schemas = {entity: ref(f"{_schema_name(entity)}{ending}") for entity in ENTITIES}
    mapping = {entity: schema["$ref"] for entity, schema in schemas.items()}
    return {
        "description": description,
        "oneOf": [*schemas.values()],
        "discriminator": {"propertyName": "entity", "mapping": mapping},
    }


SCHEMAS: Json = {
    **{f"{_schema_name(entity)}Query": _query(entity) for entity in ENTITIES},
    "Query": _by_entity("A query.", "Query"),
    "QueryOrder": {**one_of("Oldest or newest first.", ("asc", "desc")), "default": "desc"},
    "Incomplete": array(
        text("A table.", "blobs"),
        "Tables that lack its rows; absent: none.",
    ),
    "CompleteFrom": number(
        "No row is missing from this block on; absent: nor before.",
        353,
    ),
    "KeptFrom": record(
        "The oldest block whose rows are listed and counted; only where rows before it are not kept"
        " (SCAN_KEEP_DAYS).",
        {
            "blockNumber": number("Its number.", 353),
            "timestamp": time("Its time."),
        },
    ),
    "QueryCount": {**SCALARS["Count"], "description": "Records in data."},
    "QueryTotal": {
        **nullable({**SCALARS["Total"]}),
        "description": "The exact number of matching records; null with several keys other than"
        " blocks, and for logs read from the node.",
    },
    "QueryLimit": number(
        "Maximum of records.", DEFAULT_LIMIT, minimum=1, maximum=MAX_LIMIT, default=DEFAULT_LIMIT
    ),
    "QueryCursor": text(
        "`next` of a page with the same entity, filter and order; not with offset. Also a page"
        " with fewer than `limit` records may have one: by several filters it ends after"
        f" {MAX_ENTRIES:,} rows were compared, or {MAX_UNLISTED_ENTRIES:,} where none of them is an"
        " address, a token or the like.",
        "P5McU6d74Yg1fDd8eDY4Njg2",
        maxLength=MAX_CURSOR,
    ),
    "QueryOffset": number("Records to skip.", 0, maximum=BIGINT, default=0),
    **{f"{_schema_name(entity)}Answer": _answer(entity) for entity in ENTITIES},
    "QueryAnswer": _by_entity("The result of a query.", "Answer"),
}
