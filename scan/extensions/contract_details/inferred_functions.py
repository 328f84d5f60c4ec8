"""The functions of code without a source, as evmole infers them, and the known signatures of their
selectors. Both are guesses: a selector belongs to any number of signatures, and code can compare
what is no selector. Nothing is decoded by them.

evmole runs in the sandbox: code of 65 kB with 2,000 selectors takes it 24 s, in which it holds the
interpreter.
"""

import importlib.util
import sys
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from scan.cached_values import SizedCache
from scan.concurrency.turns import Postponed, QueuedPlaces, thread
from scan.contracts.abi_decoding import standard_abis
from scan.errors import Unavailable
from scan.extensions.decoding.contract_abis import ContractAbis
from scan.files import temporary_folder
from scan.hex import data
from scan.queries.reader import Reader
from scan.verification import sandbox

PLACES = 1  # of all clients
TIMEOUT_S = 1.5  # for all; again for the selectors alone, which take 0.05 s
MOST_FUNCTIONS = 300
CACHE_BYTES = 4 * 1024 * 1024
MOST_INPUTS = 1_000  # characters
FUNCTION_BYTES = 300
NOT_HERE = "Functions cannot be inferred on this machine: evmole has no build for it."
BUSY = "Functions of too many contracts are being inferred; try again shortly."

_SCRIPT = str(Path(__file__).with_name("evmole_script.py"))


class InferredFunction(NamedTuple):
    """`inputs` are the types of its arguments, separated by commas, and `mutability` that of an
    ABI; None where inferring them takes too long. `candidates` are known signatures."""

    selector: str
    inputs: str | None
    mutability: str | None
    candidates: Sequence[str] = ()


class FunctionInference:
    """Infers functions, of one contract at a time in a process, client by client; keeps those of
    recent codes."""

    def __init__(self) -> None:
        self._python = sandbox.Program(Path(sys.executable), "")
        self._places = QueuedPlaces(PLACES, 1, busy=BUSY)
        self._cache: SizedCache[Sequence[InferredFunction]] = SizedCache(CACHE_BYTES)

    def functions(
        self, client: Hashable, code: bytes, code_hash: bytes
    ) -> Sequence[InferredFunction]:
        """Return the functions in the order of their selectors, without candidates. Raises
        Unavailable, and Postponed where the request has to wait for its turn."""
        functions = self._cache.get(code_hash)
        if functions is None:
            if importlib.util.find_spec("evmole") is None:
                raise Unavailable(NOT_HERE)
            try:
                with self._places.place_in_turn(client):
                    functions = self._inferred(code)
            except Postponed:
                if thread.request is not None:
                    thread.request.end()  # others need the node's places meanwhile
                raise
            self._cache.store(code_hash, functions, FUNCTION_BYTES * (1 + len(functions)))
        return functions

    def _inferred(self, code: bytes) -> Sequence[InferredFunction]:
        for arguments in ([], ["selectors"]):
            with temporary_folder("scan-evmole-") as folder:
                try:
                    finished = self._python.run(
                        [_SCRIPT, *arguments], folder, TIMEOUT_S, code.hex().encode()
                    )
                except (sandbox.TimedOut, sandbox.TooManyProcesses):
                    continue
            if finished.status == 0:
                return sorted(
                    InferredFunction(f"0x{selector}", inputs and inputs[:MOST_INPUTS], mutability)
                    for selector, inputs, mutability in orjson.loads(finished.output)
                )[:MOST_FUNCTIONS]
        return ()


def get(reader: Reader, code: bytes, code_hash: bytes) -> Sequence[InferredFunction]:
    """Return the inferred functions of a code with the signatures that verified contracts,
    standards and the lists that operators imported have. Raises Unavailable."""
    functions = reader.sources.get(FunctionInference).functions(reader.client, code, code_hash)
    abis = reader.sources.get(ContractAbis)
    selectors = [data(function.selector) for function in functions]
    standards = standard_abis().functions
    of_standards = {s: [of.signature for of in standards.get(s, ())] for s in selectors}
    known = (abis.of_verified_contracts(selectors), of_standards, abis.imported(selectors))
    return [
        function._replace(
            candidates=[*dict.fromkeys(text for of in known for text in of.get(selector, ()))]
        )
        for function, selector in zip(functions, selectors, strict=True)
    ]
