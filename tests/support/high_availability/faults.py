"""The faults by part: each harms the stand for a while and then lets go of it."""

import os
import signal
import threading
from collections import namedtuple
from contextlib import contextmanager, suppress

from tests.support.high_availability import disks, links
from tests.support.high_availability.stand import Stand, tree
from tests.support.receiver import Answer


class Fault(namedtuple("Fault", "part kind seconds harm number", defaults=(0,))):
    """`seconds`: how long it may last; `number`: its place in the table."""


def pause(seconds):
    threading.Event().wait(seconds)


def signal_all(pids, number):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


@contextmanager
def frozen(pids):
    """As a machine that swaps, or a paused virtual one; its sockets still take connections."""
    signal_all(pids, signal.SIGSTOP)
    try:
        yield
    finally:
        signal_all(reversed(pids), signal.SIGCONT)


def leader(stand):
    links.wait_until(stand.cluster.leader, 60, "a leader")
    return str(stand.cluster.leader())


def replica(stand):
    """The one that commits wait for."""
    for name, member in stand.cluster.members().items():
        if member["role"] == "sync_standby":
            return name
    return next(n for n in ("db1", "db2", "db3") if n != leader(stand))


def during(hold):
    """The harm of what holds for a while: `hold` makes its context of the stand and a name."""

    def harm(stand, name, seconds):
        with hold(stand, name):
            pause(seconds)

    return harm


def killing(find):
    """Kill processes; whoever looks after them starts them again."""
    return lambda stand, name, _seconds: signal_all(find(stand, name), signal.SIGKILL)


def process_tree(stand, name):
    return tree(stand.cluster.processes[name].pid)


def postgres_tree(stand, name):
    return tree(stand.cluster.postgres_pid(name))


@contextmanager
def power_off(stand, name):
    """Patroni and PostgreSQL end at once, and begin again afterwards."""
    process = stand.cluster.processes[name]
    process.is_held = True
    signal_all([*tree(process.pid), *tree(stand.cluster.postgres_pid(name))], signal.SIGKILL)
    try:
        yield
    finally:
        process.is_held = False


def lose_leader(stand, seconds):
    """Until another node leads, and for a moment more."""
    name = leader(stand)
    with power_off(stand, name):
        links.wait_until(lambda: stand.cluster.leader() not in (None, name), 60, "a new leader")
        pause(seconds)


def links_of(stand, name):
    return [link for link in stand.links.links if link.split(" ")[0] == name]


lose_machine = during(power_off)
# Where it is Patroni, its PostgreSQL goes on as a leader that nobody looks after.
freeze = during(lambda stand, name: frozen(process_tree(stand, name)))
freeze_postgres = during(lambda stand, name: frozen(postgres_tree(stand, name)))
freeze_machine = during(
    lambda stand, name: frozen([*process_tree(stand, name), *postgres_tree(stand, name)])
)
freeze_node = during(lambda stand, _name: frozen([stand.anvil.pid]))
kill = killing(process_tree)
kill_patroni = killing(lambda stand, name: [stand.cluster.processes[name].pid])
kill_postgres = killing(lambda stand, name: [stand.cluster.postgres_pid(name)])
isolate = during(lambda stand, name: stand.links.isolation(name))
slow_down = during(lambda stand, name: stand.links.changed(f"postgres {name}", delay_s=0.05))
fill_disk = during(lambda stand, name: disks.full(stand.cluster.folder / name))
# Nothing comes through, and nobody is told.
cut = during(lambda stand, name: stand.links.changed(*links_of(stand, name), mode="silent"))
slow = during(lambda stand, name: stand.links.changed(*links_of(stand, name), delay_s=0.1))
refuse = during(lambda stand, name: stand.links.changed(name, mode="refusing"))


def switch_over(stand, _seconds):
    stand.cluster.switch_over()


def lose_etcd(stand, seconds):
    with frozen([stand.cluster.processes[f"etcd{n}"].pid for n in (1, 2, 3)]):
        pause(seconds)


def fail_receiver(stand, _name, seconds):
    behaviour = stand.receiver.behaviour
    stand.receiver.behaviour = lambda _handler, _received: Answer(500)
    try:
        pause(seconds)
    finally:
        stand.receiver.behaviour = behaviour


def at(find, harm):
    return lambda stand, seconds: harm(stand, find(stand), seconds)


def named(name):
    return lambda _stand: name


def one_of(random, *names):
    return lambda _stand: random.choice(names)


def other_indexer(stand):
    return "indexer2" if stand.active_indexer() == "indexer1" else "indexer1"


def all_faults(random, *, with_small_disks=False):
    """One of each; which of several equal parts it meets is drawn from `random`."""
    etcd = one_of(random, "etcd1", "etcd2", "etcd3")
    api = one_of(random, "api1", "api2", "api3")
    deliverer = one_of(random, "deliverer1", "deliverer2")
    indexer = Stand.active_indexer
    short, medium, long = (1.0, 3.0), (3.0, 8.0), (25.0, 32.0)
    faults = [
        Fault("leader", "machine lost", short, lose_leader),
        Fault("leader", "machine frozen", long, at(leader, freeze_machine)),
        Fault("leader", "PostgreSQL killed", short, at(leader, kill_postgres)),
        Fault("leader", "PostgreSQL frozen", medium, at(leader, freeze_postgres)),
        Fault("leader", "cut from all others", long, at(leader, isolate)),
        Fault("leader", "slow network", medium, at(leader, slow_down)),
        Fault("leader", "planned switchover", short, switch_over),
        Fault("leader", "Patroni killed", short, at(leader, kill_patroni)),
        Fault("leader", "Patroni frozen", long, at(leader, freeze)),
        Fault("replica", "machine lost", medium, at(replica, lose_machine)),
        Fault("replica", "machine frozen", medium, at(replica, freeze_machine)),
        Fault("replica", "cut from all others", medium, at(replica, isolate)),
        Fault("replica", "slow network", medium, at(replica, slow_down)),
        Fault("etcd", "one killed", short, at(etcd, kill)),
        Fault("etcd", "one frozen", medium, at(etcd, freeze)),
        Fault("etcd", "all frozen", (12.0, 25.0), lose_etcd),
        Fault("HAProxy", "killed", short, at(named("haproxy1"), kill)),
        Fault("HAProxy", "frozen", medium, at(named("haproxy1"), freeze)),
        Fault("HAProxy", "cut", medium, at(named("haproxy1"), cut)),
        Fault("nginx", "killed", short, at(named("nginx"), kill)),
        Fault("nginx", "frozen", short, at(named("nginx"), freeze)),
        Fault("API instance", "killed", short, at(api, kill)),
        Fault("API instance", "frozen", medium, at(api, freeze)),
        Fault("API instance", "cut", medium, at(api, cut)),
        Fault("API instance", "slow network", medium, at(api, slow)),
        Fault("indexer", "killed", short, at(indexer, kill)),
        Fault("indexer", "frozen", medium, at(indexer, freeze)),
        Fault("stand-by indexer", "killed", short, at(other_indexer, kill)),
        Fault("stand-by indexer", "frozen", medium, at(other_indexer, freeze)),
        Fault("deliverer", "killed", short, at(deliverer, kill)),
        Fault("deliverer", "frozen", medium, at(deliverer, freeze)),
        Fault("node", "frozen", medium, at(named("node"), freeze_node)),
        Fault("node", "cut", medium, at(named("node"), cut)),
        Fault("node", "refusing", medium, at(named("node"), refuse)),
        Fault("node", "slow network", medium, at(named("node"), slow)),
        Fault("receiver", "cut", medium, at(named("receiver"), cut)),
        Fault("receiver", "refusing", short, at(named("receiver"), refuse)),
        Fault("receiver", "failing", short, at(named("receiver"), fail_receiver)),
    ]
    if with_small_disks:
        faults.insert(6, Fault("leader", "disk full", medium, at(leader, fill_disk)))
    return [fault._replace(number=number) for number, fault in enumerate(faults)]
