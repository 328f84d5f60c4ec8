"""Memory that a backfill needs is told before it starts, and refused where it is not there."""

import pytest

from scan.ethereum.client import Node
from scan.extensions.backfill.resources import available_bytes, estimate, total_bytes

pytestmark = pytest.mark.thorough

MACHINE = {"proc/meminfo": "MemTotal:        8000 kB\nMemFree:  100 kB\nMemAvailable:    4000 kB\n"}


@pytest.mark.check
# A group in another, which has a limit.
@pytest.mark.parametrize(
    ("files", "available", "total"),
    [
        pytest.param(MACHINE, 4_096_000, 8_192_000, id="no group"),
        pytest.param(
            MACHINE
            | {
                "proc/self/cgroup": "1:cpu:/x\n0::/a/b\n",
                "cgroup/a/memory.max": "3000000\n",
                "cgroup/a/memory.current": "1000000\n",
                "cgroup/a/memory.stat": "anon 900\ninactive_file 400000\nactive_file 100000\n",
                "cgroup/a/b/memory.max": "max\n",
            },
            2_500_000,
            3_000_000,
            id="the group around it",
        ),
        pytest.param(
            MACHINE
            | {
                "proc/self/cgroup": "4:memory:/docker/of-the-host\n1:cpu:/\n0::/\n",
                "cgroup/memory/memory.limit_in_bytes": "2000000\n",
                "cgroup/memory/memory.usage_in_bytes": "1900000\n",
                "cgroup/memory/memory.stat": "total_inactive_file 500000\n"
                "total_active_file 0\ncache 1\n",
            },
            600_000,
            2_000_000,
            id="version 1 in a container",
        ),
        pytest.param(
            MACHINE
            | {
                "proc/self/cgroup": "0::/../../x\n",
                "cgroup/memory.max": "10",
                "cgroup/memory.current": "4000",
                "cgroup/memory.stat": "",
            },
            0,
            10,
            id="above its limit",
        ),
        pytest.param({}, None, 0, id="another system"),
        pytest.param({"proc/meminfo": "MemAvailable: x kB\n"}, None, 0, id="no number"),
    ],
)
def test_memory_is_the_machines_or_that_of_a_control_group(tmp_path, files, available, total):
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    folders = tmp_path / "proc", tmp_path / "cgroup"
    assert (available_bytes(*folders), total_bytes(*folders)) == (available, total)


def test_the_busiest_part_of_a_chain_decides(scenario):
    blocks = [b for b in scenario.truth.blocks[::-1] if b["number"] < 50]
    counts = [block["txCount"] for block in blocks]
    sample = estimate(Node((scenario.anvil.url,)), 0, 49)
    assert sample.transactions == sum(counts)
    assert sample.busiest == max(sum(counts[n : n + 5]) / 5 for n in range(0, 50, 5))
