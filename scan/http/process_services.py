"""The services of a process put together, with those of extensions."""

from collections.abc import Callable
from functools import cache

from scan import registry
from scan.accounts.api_keys import ApiKeyLookup, KeyUsage
from scan.concurrency.waiting_threads import WaitingThreads
from scan.contracts.account_state import AccountStates, ReplacedCodes, node_of_index
from scan.contracts.read_calls import ReadCalls
from scan.contracts.transaction_contents import TransactionContents
from scan.database.connection import Database
from scan.ethereum.request_node import FinalityReader, NodeGateway
from scan.http import hooks
from scan.http.services import Services, connect
from scan.queries.reader import FixedValue, IndexState, Sources, unbounded_statements
from scan.rate_limits.limiter import make_limiter
from scan.settings import Settings
from scan.verification.compiler_run import CompilerPlaces
from scan.verification.compiler_store import CompilerStore
from scan.verification.creations import CreationReader
from scan.verification.verifier import StoredBytes, Verifier
from scan.webhooks.messages import Summaries


def make_services(settings: Settings, writes: Database, reads: Database) -> Services:
    """Return the services of a process that has just started; `reads` may be a replica of
    `writes`."""
    node = node_of_index(settings, settings.read_database_url)
    waiting_threads = WaitingThreads()
    transaction_contents = TransactionContents(reads)
    gateway = NodeGateway(node, waiting_threads)
    creations = CreationReader(writes, gateway, transaction_contents, settings.traces)
    development: FixedValue[bool] = FixedValue(reads, "queries/chain_is_development")

    def is_development() -> bool:
        return settings.development_node == "auto" and bool(development.read())

    sources = Sources(
        reads,
        gateway,
        unbounded_statements(),
        AccountStates(is_development),
        ReadCalls(reads),
        transaction_contents,
        FinalityReader(),
        replaced_codes=ReplacedCodes(reads, writes),
        chain_id=FixedValue(reads, "queries/chain_get_id"),
        first_block=FixedValue(reads, "indexer/chain_get_first_block"),
        is_development=is_development,
        index_state=IndexState(reads),
        traces=settings.traces,
        coin_symbol=settings.coin_symbol,
        writes=writes,
    )
    services = Services(
        settings,
        sources,
        writes,
        make_limiter(settings),
        ApiKeyLookup(writes, reads if settings.reads_replica else None),
        KeyUsage(writes),
        Verifier(writes, creations, CompilerStore(settings), CompilerPlaces(), StoredBytes(writes)),
        waiting_threads,
    )
    for part in registry.parts(hooks.Service):
        sources.keep(part.make(services), part.base)
    return services


def own_services(settings: Settings) -> Services:
    """Return the services of a process that serves no requests."""
    database = connect(settings, settings.database_url)
    return make_services(settings, database, database)


def message_summaries(services: Callable[[], Services]) -> Summaries:
    """Return what makes sentences about transactions; the extension that does is imported, and
    `services` is called, with the first message."""

    @cache
    def made() -> Summaries:
        part = registry.only(hooks.Summaries)
        return (lambda blocks: {}) if part is None else part.make(cache(services))

    return lambda blocks: made()(blocks)
