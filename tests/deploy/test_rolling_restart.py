"""Instances behind the shipped nginx configuration, replaced one by one under load."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
import requests

from scan.accounts.api_keys import new_key
from tests.support import POLL_S, database, serving

pytestmark = pytest.mark.long

CLIENTS = 6  # with a key each, so that they meet different instances


@contextmanager
def load(front, keys):
    """Clients that ask one after the other while it lasts; what came back, counted at its end."""
    is_over, answers = threading.Event(), Counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        asking = [pool.submit(ask_until, is_over, front, key.text) for key in keys]
        try:
            yield answers
        finally:
            is_over.set()
    for of_client in asking:
        answers.update(of_client.result())


def ask_until(is_over, front, key):
    answers, session = Counter(), requests.Session()
    session.headers["X-API-Key"] = key
    while not is_over.is_set():
        for method, path, body in (
            ("GET", "/blocks?limit=2", None),
            ("POST", "/query", {"entity": "transactions", "limit": 2}),
        ):
            answers[outcome(session, method, f"{front}/api/v1{path}", body)] += 1
        time.sleep(0.002)
    return answers


def outcome(session, method, url, body):
    try:
        response = session.request(method, url, json=body, timeout=POLL_S)
    except requests.RequestException as error:
        return f"{method} {type(error).__name__}"
    return f"{method} {response.status_code}" + ("" if response.ok else response.text)


def keys_in(url):
    keys = [new_key() for _ in range(CLIENTS)]
    for key in keys:
        database.insert_key(url, key, 1_000_000)
    return keys


@contextmanager
def instance(database_url, port):
    settings = {"SCAN_TRUSTED_PROXIES": "1", "SCAN_RATE_LIMIT_ADDRESS": "1000000/minute"}
    with serving.gunicorn_started(database_url, port, **settings) as process:
        serving.wait_for(port, process)
        yield process


def test_no_request_is_lost_while_instances_are_replaced(database_url, tmp_path):
    ports = [serving.free_port() for _ in range(3)]
    with ExitStack() as stack:
        processes = [stack.enter_context(instance(database_url, port)) for port in ports]
        servers = [f"http://127.0.0.1:{port}" for port in ports]
        raised = {"rate=20r/s": "rate=20000r/s"}  # as the limit of an address is
        front = stack.enter_context(serving.nginx(tmp_path, servers, raised))
        with load(front, keys_in(database_url)) as answers:
            for port, process in zip(ports[:2], processes[:2], strict=True):
                serving.stop(process)
                stack.enter_context(instance(database_url, port))
                time.sleep(0.5)
    assert set(answers) == {"GET 200", "POST 200"}, answers
    assert sum(answers.values()) > 300
