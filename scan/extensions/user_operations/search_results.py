"""User operations among the results of a search, by hash."""

from scan.extensions.search.hooks import Search
from scan.extensions.user_operations import queries as user_operations
from scan.http.requests import reader


def path_of_hash(operation_hash: bytes) -> str | None:
    """Return the path of the page for a hash, without the hash; None if it is no operation's."""
    return "/user-operation/" if user_operations.with_hash(reader(), operation_hash) else None


HOOKS = Search(path_of_hash=path_of_hash)
