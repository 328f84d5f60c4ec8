"""`make chaos`: faults by chance on the recipe of deploy/ha, under load, ending exact.

CHAOS_FAULTS (100) and CHAOS_SEED (a new one each time, printed) choose what happens.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from tests.support.database import Postgres
from tests.support.high_availability.faults import all_faults, suffer
from tests.support.high_availability.stand import standing


def main():
    count = int(os.environ.get("CHAOS_FAULTS", "100"))
    seed = int(os.environ.get("CHAOS_SEED") or time.time_ns() % 10**6)
    random = Random(seed)
    print(f"{count} faults, seed {seed}", flush=True)
    begun = time.monotonic()
    with Postgres() as postgres, tempfile.TemporaryDirectory(prefix="scan-chaos-") as folder:
        Path(folder).chmod(0o755)
        with standing(Path(folder), seed) as stand:
            print(f"up after {time.monotonic() - begun:.0f} s, in {folder}", flush=True)
            run(stand, drawn(random, all_faults(random), count), random)
            figures = stand.check_all(postgres, postgres.make_template())
    print(f"\n{figures}\n{time.monotonic() - begun:.0f} s in all")
    return 0


def drawn(random, kinds, count):
    """Each kind as often as the others, as far as that goes; in an order by chance."""
    only = os.environ.get("CHAOS_ONLY", "")
    kinds = [f for f in kinds if only in f"{f.part} {f.kind}"]
    whole = [fault for _ in range(count // len(kinds)) for fault in kinds]
    faults = [*whole, *random.sample(kinds, count % len(kinds))]
    random.shuffle(faults)
    return faults


def run(stand, faults, random):
    with stand.load:
        stand.wait_until_whole()
        for number, fault in enumerate(faults, 1):
            print(f"{number}. {suffer(stand, fault, random)}", flush=True)
    assert not stand.load.problems, stand.load.problems[:3]


if __name__ == "__main__":
    sys.exit(main())
