"""The parts that every interface answers from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from flask import current_app

from scan.accounts.contract_wallets import ContractWallets
from scan.accounts.key_lookup import ApiKeyLookup
from scan.accounts.key_usage import KeyUsage
from scan.contracts.account_state import AccountStates
from scan.contracts.contract_abis import ContractAbis
from scan.contracts.read_calls import ReadCalls
from scan.contracts.token_uri import TokenUris
from scan.contracts.transaction_details import TransactionDetailsReader
from scan.database.connection import Database
from scan.ethereum.client import Node
from scan.ethereum.sized_cache import SizedCache
from scan.rate_limits.concurrency import ConcurrencyLimit
from scan.rate_limits.limiter import Limiter
from scan.settings import Settings
from scan.verification.jobs import VerificationJobs
from scan.verification.verifier import Verifier


@dataclass(frozen=True)
class Services:
    """`reads` may be a replica of `writes`."""

    settings: Settings
    reads: Database
    writes: Database
    node: Node
    account_states: AccountStates
    contract_wallets: ContractWallets
    limiter: Limiter
    key_lookup: ApiKeyLookup
    key_usage: KeyUsage
    unbounded_statements: ConcurrencyLimit
    verifier: Verifier
    jobs: VerificationJobs
    read_calls: ReadCalls
    contract_abis: ContractAbis
    transaction_details: TransactionDetailsReader
    token_uris: TokenUris
    log_reads: ConcurrencyLimit  # of logs that are not stored
    log_blocks: SizedCache[Sequence[int]]  # where the entries of their lists stand


def services() -> Services:
    return cast(Services, current_app.extensions["scan"])
