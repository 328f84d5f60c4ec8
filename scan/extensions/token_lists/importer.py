"""The import of token lists and their logos into the database."""

from collections import Counter
from collections.abc import Iterator, Sequence

from scan.database.connection import Database
from scan.extensions.token_lists.logo_fetcher import Logo, LogoFetcher
from scan.extensions.token_lists.token_list import TokenList

BATCH_LOGOS = 40  # in memory at once


def store(database: Database, token_list: TokenList) -> int:
    """Store a list in place of an earlier one of its name. Return how many tokens it no longer
    has."""
    tokens = token_list.tokens
    with database.transaction() as tx:
        removed = tx.execute(
            "token_lists/listed_tokens_delete",
            list=token_list.name,
            kept=[token.address for token in tokens],
        )
        tx.execute(
            "token_lists/listed_tokens_put",
            list=token_list.name,
            addresses=[token.address for token in tokens],
            names=[token.name for token in tokens],
            symbols=[token.symbol for token in tokens],
            decimals=[token.decimals for token in tokens],
            logo_uris=[token.logo_uri for token in tokens],
        )
        tx.execute("token_lists/logos_delete_unused")
    return removed


def remove(database: Database, name: str) -> int:
    """Remove a list; return how many tokens it had."""
    with database.transaction() as tx:
        removed = tx.execute("token_lists/listed_tokens_delete", list=name, kept=[])
        tx.execute("token_lists/logos_delete_unused")
    return removed


def missing_logos(database: Database, name: str) -> list[str]:
    """Return the URIs of a list's logos that are not stored."""
    rows = database.rows("token_lists/listed_tokens_list_without_logo", list=name)
    return [str(uri) for (uri,) in rows]


def fetch_logos(
    database: Database, fetcher: LogoFetcher, uris: Sequence[str], failures: Counter[str]
) -> Iterator[int]:
    """Fetch and store logos in batches, and yield the size of each. After an interruption, stored
    batches stay. `failures` counts the reasons of URIs without a logo."""
    for first in range(0, len(uris), BATCH_LOGOS):
        batch = uris[first : first + BATCH_LOGOS]
        results = fetcher.get_all(batch)
        failures.update(reason for reason in results.values() if isinstance(reason, str))
        _put(database, {uri: logo for uri, logo in results.items() if isinstance(logo, Logo)})
        yield len(batch)


def _put(database: Database, logos: dict[str, Logo]) -> None:
    if not logos:
        return
    with database.transaction() as tx:
        tx.execute(
            "token_lists/logos_put",
            uris=[*logos],
            digests=[logo.digest for logo in logos.values()],
            content_types=[logo.content_type for logo in logos.values()],
            contents=[logo.content for logo in logos.values()],
        )
