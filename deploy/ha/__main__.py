"""`python -m deploy.ha [FOLDER]`: the whole recipe on this machine, until Ctrl-C or SIGTERM.

RPC_URL names the node; without it the bundled demo chain is served.
"""

import os
import signal
import sys
import tempfile
import threading
from pathlib import Path

from deploy.ha.cluster import Cluster
from scan.extensions.demo import demo_node


def main() -> int:
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="scan-ha-"))
    if folder.exists() and any(folder.iterdir()):
        sys.exit(f"{folder} is not empty: ports are other ones each time, so data cannot be kept")
    rpc_url = os.environ.get("RPC_URL") or demo_node.start(demo_node.RECORDING).url
    cluster = Cluster(folder.absolute(), rpc_url)
    try:
        cluster.start()
        print(describe(cluster), flush=True)
        stop.wait()
    finally:
        cluster.stop()
    return 0


def describe(cluster: Cluster) -> str:
    nodes = "".join(
        f"  {name}: {member['role']}, https://{cluster.node(int(name[2:]), 8008)}/cluster\n"
        for name, member in sorted(cluster.members().items())
    )
    processes = "".join(
        f"  {process.pid:>8} {process.name}\n" for process in cluster.processes.processes.values()
    )
    return (
        f"Scan serves at {cluster.url} (Ctrl-C stops it).\n"
        f"PostgreSQL, each with its Patroni:\n{nodes}"
        f"  certificates for Patroni and etcd: {cluster.certificates}\n"
        f"  leader by HAProxy: {cluster.database_url}\n"
        f"  readers by HAProxy: {cluster.read_database_url}\n"
        f"Processes; logs lie in {cluster.folder}:\n{processes}"
    )


if __name__ == "__main__":
    sys.exit(main())
