"""The services that views use, which live as long as the process."""

from dataclasses import dataclass
from typing import cast

from flask import current_app

from scan.accounts.key_lookup import ApiKeyLookup
from scan.accounts.key_usage import KeyUsage
from scan.database.connection import Database
from scan.http.file_places import FilePlaces
from scan.queries.reader import Sources
from scan.rate_limits.concurrency import ConcurrencyLimit, WaitingThreads
from scan.rate_limits.limiter import Limiter
from scan.settings import Settings
from scan.unit_prices.price_source import PriceSource
from scan.verification.jobs import VerificationJobs
from scan.verification.verifier import Verifier


@dataclass(frozen=True)
class Services:
    """`sources` may read a replica of `writes`."""

    settings: Settings
    sources: Sources
    writes: Database
    limiter: Limiter
    key_lookup: ApiKeyLookup
    key_usage: KeyUsage
    verifier: Verifier
    jobs: VerificationJobs
    large_forms: ConcurrencyLimit
    waiting_threads: WaitingThreads
    file_places: FilePlaces
    prices: PriceSource

    @property
    def reads(self) -> Database:
        return self.sources.database


def services() -> Services:
    return cast(Services, current_app.extensions["scan"])
