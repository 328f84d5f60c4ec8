"""The faults by part: each harms the stand for a while and then lets go of it; and what was seen
meanwhile, which bench/README.md sums up."""

import os
import signal
import time
from collections import namedtuple
from contextlib import contextmanager, suppress

from tests.support.high_availability.links import wait_until
from tests.support.high_availability.stand import tree
from tests.support.receiver import Answer

# `hold` makes a context of the stand and the name of a part, which `find` chooses.
Fault = namedtuple("Fault", "part kind seconds find hold")


OF_ONE = "fault lasted reader_outage reader_statuses writer_outage writer_statuses late"


class Seen(namedtuple("Seen", OF_ONE)):
    """Of one fault, from its beginning until everything was at work again; seconds. `late`: of the
    block that was answered the longest after it was mined."""

    def __str__(self):
        return (
            f"{self.fault.part}, {self.fault.kind}: {self.lasted:.1f} s; readers wait"
            f" {self.reader_outage:.1f} s {dict(self.reader_statuses)}; the writer"
            f" {self.writer_outage:.1f} s {dict(self.writer_statuses)}; newest block late by"
            f" {self.late:.1f} s"
        )


def suffer(stand, fault, random):
    """Raises AssertionError where not everything comes back."""
    begun, load = time.monotonic(), stand.load
    with fault.hold(stand, fault.find(stand)):
        time.sleep(random.uniform(*fault.seconds))
    lasted = time.monotonic() - begun
    time.sleep(1.5)  # by then a supervisor has seen that something ended
    stand.wait_until_whole()
    seen = [load.seen_of(begun, kinds) for kinds in (("anonymous", "key"), ("owner",))]
    return Seen(fault, lasted, *seen[0], *seen[1], load.slowest_block(begun))


def signal_all(pids, number):
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def processes(stand, name):
    """Of a part; of a node of the database those of Patroni."""
    return [stand.anvil.pid] if name == "node" else tree(stand.cluster.processes[name].pid)


def patroni(stand, name):
    return [stand.cluster.processes[name].pid]


def postgres(stand, name):
    return tree(stand.cluster.postgres_pid(name))


def all_etcd(stand, _name):
    return [stand.cluster.processes[f"etcd{n}"].pid for n in (1, 2, 3)]


def machine(stand, name):
    return [*processes(stand, name), *postgres(stand, name)]


def frozen(find):
    """As a machine that swaps, or a paused virtual one; its sockets still take connections."""

    @contextmanager
    def hold(stand, name):
        pids = find(stand, name)
        signal_all(pids, signal.SIGSTOP)
        try:
            yield
        finally:
            signal_all(reversed(pids), signal.SIGCONT)

    return hold


def killed(find):
    """Whoever looks after processes starts them again."""

    @contextmanager
    def hold(stand, name):
        signal_all(find(stand, name), signal.SIGKILL)
        yield

    return hold


def changed(**options):
    return lambda stand, name: stand.links.changed(name, **options)


@contextmanager
def lost(stand, name):
    """Patroni and PostgreSQL end at once, and begin again afterwards; of the leader once another
    node leads."""
    process, was_leader = stand.cluster.processes[name], stand.cluster.leader() == name
    process.is_held = True
    signal_all(machine(stand, name), signal.SIGKILL)
    try:
        if was_leader:
            wait_until(lambda: stand.cluster.leader() not in (None, name), 60, "a new leader")
        yield
    finally:
        process.is_held = False


@contextmanager
def switched_over(stand, _name):
    stand.cluster.switch_over()
    yield


@contextmanager
def failing(stand, _name):
    stand.receiver.behaviour, behaviour = lambda *_: Answer(500), stand.receiver.behaviour
    try:
        yield
    finally:
        stand.receiver.behaviour = behaviour


def leader(stand):
    wait_until(stand.cluster.leader, 60, "a leader")
    return str(stand.cluster.leader())


def replica(stand):
    """The one that commits wait for, or another."""
    members = stand.cluster.members()
    waited_for = (n for n, member in members.items() if member["role"] == "sync_standby")
    return next(waited_for, next(n for n in ("db1", "db2", "db3") if n != leader(stand)))


def all_faults(random):
    """One of each; which of several equal parts it meets is drawn from `random`."""

    def one_of(*names):
        return lambda _stand: random.choice(names)

    short, medium, long = (1.0, 3.0), (3.0, 8.0), (25.0, 32.0)
    kill, freeze, cut = killed(processes), frozen(processes), changed(mode="silent")
    refuse, slow, slower = changed(mode="refusing"), changed(delay_s=0.05), changed(delay_s=0.1)
    etcd, api = one_of("etcd1", "etcd2", "etcd3"), one_of("api1", "api2", "api3")
    deliverer, indexer = one_of("deliverer1", "deliverer2"), one_of("indexer1", "indexer2")
    haproxy, nginx, node, receiver = map(one_of, ("haproxy1", "nginx", "node", "receiver"))
    return [
        Fault("leader", "machine lost", short, leader, lost),
        Fault("leader", "machine frozen", long, leader, frozen(machine)),
        Fault("leader", "PostgreSQL killed", short, leader, killed(postgres)),
        Fault("leader", "PostgreSQL frozen", medium, leader, frozen(postgres)),
        Fault("leader", "cut from all others", long, leader, cut),
        Fault("leader", "slow network", medium, leader, slow),
        Fault("leader", "planned switchover", short, leader, switched_over),
        Fault("leader", "Patroni killed", short, leader, killed(patroni)),
        # Its PostgreSQL goes on as a leader that nobody looks after.
        Fault("leader", "Patroni frozen", long, leader, freeze),
        Fault("replica", "machine lost", medium, replica, lost),
        Fault("replica", "machine frozen", medium, replica, frozen(machine)),
        Fault("replica", "cut from all others", medium, replica, cut),
        Fault("replica", "slow network", medium, replica, slow),
        Fault("etcd", "one killed", short, etcd, kill),
        Fault("etcd", "one frozen", medium, etcd, freeze),
        Fault("etcd", "all frozen", (12.0, 25.0), etcd, frozen(all_etcd)),
        Fault("HAProxy", "killed", short, haproxy, kill),
        Fault("HAProxy", "frozen", medium, haproxy, freeze),
        Fault("HAProxy", "cut", medium, haproxy, cut),
        Fault("nginx", "killed", short, nginx, kill),
        Fault("nginx", "frozen", short, nginx, freeze),
        Fault("API instance", "killed", short, api, kill),
        Fault("API instance", "frozen", medium, api, freeze),
        Fault("API instance", "cut", medium, api, cut),
        Fault("API instance", "slow network", medium, api, slower),
        Fault("indexer", "killed", short, indexer, kill),
        Fault("indexer", "frozen", medium, indexer, freeze),
        Fault("deliverer", "killed", short, deliverer, kill),
        Fault("deliverer", "frozen", medium, deliverer, freeze),
        Fault("node", "frozen", medium, node, freeze),
        Fault("node", "cut", medium, node, cut),
        Fault("node", "refusing", medium, node, refuse),
        Fault("node", "slow network", medium, node, slower),
        Fault("receiver", "cut", medium, receiver, cut),
        Fault("receiver", "refusing", short, receiver, refuse),
        Fault("receiver", "failing", short, receiver, failing),
    ]
