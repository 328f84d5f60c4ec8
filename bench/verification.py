"""What verifying costs beside compiling: `python -m bench.verification`.

An OpenZeppelin ERC20 is deployed on anvil, indexed, and verified by its standard JSON input with
settings given and with settings dropped, next to the compilation alone, each in turn. Then the time
that /stats and a call take is measured, alone and beside four compilations that never end.
"""

import os
import statistics
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import orjson

from tests.support.anvil import Anvil
from tests.support.database import Postgres
from tests.support.explorer import Explorer, compiled, place_compilers, standard_input
from tests.support.indexing import Indexing
from tests.verification.test_api import ENDLESS
from tests.verification.test_verify import ON, openzeppelin

VERSION = "0.8.28"
ROUNDS = 5
PROBES = 200


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        Anvil() as anvil,
        Postgres() as postgres,
        postgres.cloned(postgres.make_template()) as url,
        Indexing(
            url,
            anvil.url,
            solc_dir=place_compilers(Path(folder) / "solc"),
            path=os.environ["PATH"],
        ) as indexing,
    ):
        measure(Explorer(anvil, indexing))


def measure(explorer: Explorer) -> None:
    sources, path = openzeppelin("ERC20")
    given = standard_input(sources, optimizer=ON)
    address = explorer.deploy(compiled(VERSION, given, path, "ERC20Coin").creation)
    solc = explorer.settings.solc_dir / f"solc-{VERSION}" / f"solc-{VERSION}"
    selection = {path: {"ERC20Coin": ["abi", "metadata", "evm.bytecode", "evm.deployedBytecode"]}}
    bare = standard_input(sources, optimizer=ON, outputSelection=selection)
    name = {"contractName": f"{path}:ERC20Coin"}
    ways: dict[str, Callable[[], object]] = {
        "one bare compilation": lambda: run(solc, bare),
        "settings and contract given": lambda: explorer.verify(address, given, VERSION, **name),
        "settings given": lambda: explorer.verify(address, given, VERSION),
        "settings searched": lambda: explorer.verify(address, standard_input(sources), VERSION),
    }
    for label, costs in in_turn(ways).items():
        clock, cpu = (statistics.median(values) for values in zip(*costs, strict=True))
        print(f"{label:30} median {clock:.2f} s, of CPU {cpu:.2f} s")
    probe("alone", explorer, address)
    clients = [{"client_address": f"192.0.2.{n}"} for n in range(4)]
    threads = [
        threading.Thread(target=explorer.verify, args=(address, ENDLESS, VERSION), kwargs=client)
        for client in clients
    ]
    for thread in threads:
        thread.start()
    time.sleep(2)
    probe("beside 4 endless compilations", explorer, address)
    for thread in threads:
        thread.join()


def run(solc: Path, standard: object) -> None:
    command = [str(solc), "--standard-json"]
    subprocess.run(command, input=orjson.dumps(standard), capture_output=True, check=True)


def in_turn(ways: dict[str, Callable[[], object]]) -> dict[str, list[tuple[float, float]]]:
    """Seconds on the clock and of CPU, compilers included, for each round of each way."""
    costs: dict[str, list[tuple[float, float]]] = {label: [] for label in ways}
    for _ in range(ROUNDS):
        for label, way in ways.items():
            clock, cpu = time.perf_counter(), cpu_s()
            way()
            costs[label].append((time.perf_counter() - clock, cpu_s() - cpu))
    return costs


def cpu_s() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def probe(when: str, explorer: Explorer, address: str) -> None:
    for label, ask in (
        ("GET /stats", lambda: explorer.client.get("/api/v1/stats")),
        ("call symbol()", lambda: explorer.call(address, "symbol")),
    ):
        times = []
        for _ in range(PROBES):
            start = time.perf_counter()
            assert ask().status_code == 200
            times.append((time.perf_counter() - start) * 1000)
        times.sort()
        print(
            f"{label:15} {when:30} median {times[PROBES // 2]:.1f} ms, "
            f"99 % {times[int(PROBES * 0.99)]:.1f} ms"
        )


if __name__ == "__main__":
    main()
