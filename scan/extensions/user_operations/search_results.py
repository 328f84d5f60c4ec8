"""User operations among the results of a search, by hash."""

from scan.extensions.search.hooks import Results, Search
from scan.extensions.user_operations import queries as user_operations
from scan.queries.reader import Reader


def has_hash(reader: Reader, operation_hash: bytes) -> bool:
    return bool(user_operations.operations_with_hash(reader, operation_hash))


HOOKS = Search(
    results={"user_operation": Results("User operations", "/user-operation/", has=has_hash)}
)
