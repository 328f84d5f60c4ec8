"""The format of a list that a request asks for, a page of JSON or a whole file, by `format` or the
header Accept.
"""

from enum import Enum
from functools import lru_cache

from werkzeug.datastructures import MIMEAccept
from werkzeug.http import parse_accept_header

from scan import registry
from scan.cached_values import LazySequence


class Format(Enum):
    CSV = "csv"
    NDJSON = "ndjson"
    PARQUET = "parquet"  # of lists whose columns have types


TYPES = {
    Format.CSV: "text/csv",
    Format.NDJSON: "application/x-ndjson",
    Format.PARQUET: "application/vnd.apache.parquet",
}
JSON_TYPE = "application/json"
PARAMETER = "format"
JSON = "json"
MAX_FILE_ROWS = 100_000
FORMATS = LazySequence(lambda: (JSON, *(file.value for file in Format if has_files())))


def has_files() -> bool:
    """Return whether an extension writes files; else lists are pages of JSON alone."""
    return registry.has("list_files")


@lru_cache(maxsize=256)  # the middleware bounds the header's length
def accepted_file(accept: str) -> Format | None:
    """Return the file's format that a client names and prefers to JSON (RFC 9110, 12.5.1).

    Clients that accept anything, as browsers do, get JSON: None.
    """
    if not has_files() or not any(file.value in accept.lower() for file in Format):
        return None
    accepted = parse_accept_header(accept.lower(), MIMEAccept)
    weights = {name.partition(";")[0]: weight for name, weight in accepted}
    best = max(Format, key=lambda file: weights.get(TYPES[file], 0.0))
    weight = weights.get(TYPES[best], 0.0)
    if JSON_TYPE in weights:
        return best if weight > weights[JSON_TYPE] else None
    # A named type goes before a wildcard of the same weight.
    others = weights.get("application/*", weights.get("*/*", 0.0))
    return best if weight > 0 and weight >= others else None
