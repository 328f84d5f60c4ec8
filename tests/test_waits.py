"""Nobody's wait holds others: one door from a request to the node and to compilers.

The door is a place of WaitingThreads, or one of CompilerPlaces inside of that: it counts those who
hold it, has a time-out and knows the client.
"""

import ast

import pytest

from tests.support.extensions_document import taken_away
from tests.support.served_modules import functions, modules, served

pytestmark = pytest.mark.check

SERVED = served(modules())
# Functions of threads of their own, which no request waits for.
OWN_THREADS = {
    ("scan.accounts.api_keys", "_run"),
    ("scan.deadlines", "_run"),
    ("scan.extensions.items.media_cache", "take"),
    ("scan.rate_limits.window_storage", "_probe"),
    ("scan.extensions.phoenix.broadcaster", "_run"),
    ("scan.extensions.phoenix.broadcaster", "_work"),
    ("scan.extensions.phoenix.broadcaster", "next"),
    ("scan.extensions.streams.broadcaster", "_run"),
    ("scan.extensions.streams.broadcaster", "_wait"),
    ("scan.extensions.verification_jobs.jobs", "_run"),
    ("scan.http.index_version", "_run"),
    ("scan.http.background_threads", "_run"),
}
# What waits, by module and function.
WAITS = {
    ("scan.concurrency.concurrency_limit", "_wait"),  # the door
    # In the loop it has come; other threads are none of requests.
    ("scan.concurrency.turns", "require"),
    ("scan.ethereum.request_node", "acquire"),  # in a place, until the session's deadline
    ("scan.contracts.read_calls", "value_of"),  # a function of that name
    # NodeSession.acquire()
    ("scan.extensions.traces.transaction_traces", "_alone"),
    ("scan.extensions.verification_jobs.jobs", "_wait_until"),  # in a place
    ("scan.extensions.etherscan.contract", "verification_status"),  # VerificationJobs.wait()
    ("scan.extensions.sourcify.interface", "get_verification"),  # VerificationJobs.wait()
    ("scan.extensions.sourcify.interface", "verify_files"),
    ("scan.http.index_version", "wait_for"),  # in a place
    ("scan.database.notifications", "wait"),  # the deliverer, and the thread of streams
    ("scan.http.middleware", "_ask_flask"),  # IndexedBlock.wait_for()
    ("scan.outbound.allowed_urls", "resolve"),  # in a place, or in a thread of the deliverer
    ("scan.verification.compiler_run", "running"),  # in a place, among those admitted
    ("scan.verification.compiler_store", "compiler"),  # in a place, among those admitted
    ("scan.verification.sandbox", "_wait"),  # a running place
    ("scan.verification.sandbox", "end_session"),  # a process that is killed
    # A storage's time-out; in the loop the future is done.
    ("scan.http.credentials_and_limits", "_count"),
    ("scan.database.migrations", "_retry_while_locked"),  # a command
    ("scan.ethereum.node_errors", "run"),  # the indexer and commands, which try again
    ("scan.extensions.traces.block_traces", "_verified"),  # the same
}
# What speaks with another server or process, by module and function: for whom, or in which place.
SPEAKS = {
    ("scan.contracts.account_state", "node_of_index"): "makes it, for the gateway",
    ("scan.ethereum.client", "_single"): "one of several nodes",
    ("scan.extensions.names.views", "names_of_settings"): "Ethereum's, for a gateway of its own",
    ("scan.ethereum.transport", "__init__"): "the node",
    ("scan.outbound.allowed_urls", "lookup"): "resolve()",
    ("scan.outbound.http_client", "open"): "threads of queues and of prices; in a place; commands",
    ("scan.verification.compiler_store", "_probe"): "in a place, among those admitted",
    ("scan.verification.compiler_store", "finish"): "in a place, among those admitted",
    ("scan.verification.sandbox", "start"): "a running place",
    ("scan.verification.sandbox", "can_deny_network"): "a running place, once",
    ("scan.database.migrations", "own_version"): "a command",
}
SPEAKING = set(
    "Node Session getaddrinfo gethostbyname create_connection getresponse urlopen Popen"
    " communicate subprocess.run check_call check_output system".split()
)
NO_WAIT = "acquire(blocking=False)"  # a lock that is not free is left


WAITING = {"wait", "wait_for", "result", "sleep", "acquire"}


@pytest.mark.parametrize(
    ("names", "known"),
    [(WAITING, WAITS | OWN_THREADS), (SPEAKING, SPEAKS)],
    ids=["waits", "speaks"],
)
def test_what_waits_or_speaks_with_others_has_a_place_or_a_thread_of_its_own(names, known):
    calls = _functions_with(names)
    assert {at: text for at, text in calls.items() if at not in known} == {}
    assert {*known} - calls.keys() == set() or taken_away()


def _functions_with(names):
    """By module and function, one of its calls of such a name that may wait."""
    return {
        (module, function): ast.unparse(node)
        for module, tree in SERVED.items()
        for function, inside in functions(tree)
        for node in inside
        if isinstance(node, ast.Call)
        and not names.isdisjoint({getattr(node.func, "attr", ""), ast.unparse(node.func)})
        and NO_WAIT not in ast.unparse(node)
    }
