"""Contracts created by verified contracts, submitted with the sources of their factories.

The compiler puts the creation code of a contract that another creates with `new` into that one's
code. Where a new contract ends like a part of its verified factory's code, the factory's stored
sources are compiled, and the contract is verified as by a client's submission: by its runtime code
and by the code that created it. The end only saves compilations; it proves nothing.
"""

import logging
from collections import defaultdict
from typing import NamedTuple

from scan.database.connection import Database
from scan.errors import NotFound, RateLimited, ScanError, Unavailable, VerificationFailed
from scan.extensions.contract_details.contract_import.importer import record_of
from scan.extensions.verification_jobs.jobs import VerificationJobs
from scan.hex import to_hex
from scan.verification.creations import CreationReader
from scan.verification.verifier import indexed_contract

MAX_CREATIONS = 50  # the newest, which are looked at in a step
MAX_FACTORIES = 10  # those verified last, whose MAX_CREATIONS newest creations are looked at, too
MAX_AT_ONCE = 20
MAX_OF_FACTORY = 20  # contracts of one factory's code that are submitted
MAX_NOTED = 2_000  # contracts and factories that are remembered
END_BYTES = 53  # of the metadata, which differs where the source does
CLIENT = "factories"  # the client that its jobs are charged to

log = logging.getLogger(__name__)


class _Child(NamedTuple):
    code_hash: bytes
    address: bytes
    factory: bytes  # at which the factory's code is verified
    verified_at: str  # when its code was last, by creation code that is not this one's


class FactoryChildren:
    """Submits contracts of verified factories: one of each end of code, since others of the same
    source differ in values of immutables alone, and another where its creation code is not that."""

    def __init__(
        self,
        database: Database,
        creations: CreationReader,
        jobs: VerificationJobs,
        max_of_factory: int = MAX_OF_FACTORY,
    ) -> None:
        self._max_of_factory = max_of_factory
        self._database = database
        self._creations = creations
        self._jobs = jobs
        self._seen: set[bytes] = set()  # codes, factories and times, submitted or not
        # Ends and times, by factory.
        self._submitted: defaultdict[bytes, set[tuple[bytes, str]]] = defaultdict(set)

    def step(self) -> bool:
        """Submit what is new as far as there are places; return False: the next step is not due at
        once."""
        if max(len(self._seen), len(self._submitted)) > MAX_NOTED:
            self._seen.clear()
            self._submitted.clear()
        rows = self._database.rows(
            "factory_children/children_list",
            seen=[*self._seen],
            creations=MAX_CREATIONS,
            factories=MAX_FACTORIES,
            limit=MAX_AT_ONCE,
        )
        for row in rows:
            *keys, verified_at = row
            code_hash, address, factory = map(bytes, keys)
            child = _Child(code_hash, address, factory, verified_at)
            try:
                self._submit(child)
            except (RateLimited, Unavailable):
                return False  # the next step goes on
            except ScanError as error:
                log.debug("%s is not submitted: %s", to_hex(child.address), error.message)
            self._seen.add(child.code_hash + child.factory + child.verified_at.encode())
        return False

    def _submit(self, child: _Child) -> None:
        """Raises as VerificationJobs.submit() does."""
        try:
            contract = indexed_contract(self._database, child.address)
            factory = indexed_contract(self._database, child.factory)
        except (NotFound, VerificationFailed):
            return
        end = contract.code[-END_BYTES:]
        submitted = self._submitted[factory.code_hash]
        if (end, child.verified_at) in submitted or len(submitted) >= self._max_of_factory:
            return
        if end not in factory.code:  # nor in its constructor, which the node gives
            try:
                creation = self._creations.input_of(factory.address, factory.block_number)
            except Unavailable:  # one whose trace takes long stops no other
                return
            if creation is None or end not in creation:
                return
        row = self._database.row(
            "factory_children/verified_contracts_get",
            address=factory.address,
            code_hash=factory.code_hash,
        )
        if row is None:
            return
        body = {**record_of(row, None).submission(), "address": to_hex(contract.address)}
        del body["contractName"]  # the factory's
        self._jobs.submit(body, CLIENT)
        submitted.add((end, child.verified_at))
