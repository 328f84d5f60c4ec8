"""Instances behind the shipped nginx configuration, replaced one by one under load."""

import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest
import requests

from tests.support import POLL_S, database, serving

pytestmark = pytest.mark.long


def test_no_request_is_lost_while_instances_are_replaced(database_url, tmp_path):
    ports, is_over = [serving.free_port() for _ in range(3)], threading.Event()
    settings = {"SCAN_TRUSTED_PROXIES": "1", "SCAN_RATE_LIMIT_ADDRESS": "1000000/minute"}
    raised = {"rate=20r/s": "rate=20000r/s"}  # as the limit of an address is
    # Each client has a key of its own, so that they meet different instances.
    keys = [database.made_key(database_url, 1_000_000).text for _ in range(6)]
    with ExitStack() as stack, ThreadPoolExecutor(len(keys)) as pool:

        def answers_of(key):
            """What comes back to a client that asks one request after the other."""
            answers, session = Counter(), requests.Session()
            session.headers["X-API-Key"] = key
            read = "GET", "blocks?limit=2", None
            query = "POST", "query", {"entity": "transactions", "limit": 2}
            while not is_over.is_set():
                for method, path, body in (read, query):
                    try:
                        url = f"{front}/api/v1/{path}"
                        response = session.request(method, url, json=body, timeout=POLL_S)
                        answers[f"{method} {response.status_code}"] += 1
                    except requests.RequestException as error:
                        answers[f"{method} {type(error).__name__}"] += 1
                time.sleep(0.002)
            return answers

        def start(port):
            instance = serving.gunicorn_started(database_url, port, **settings)
            process = stack.enter_context(instance)
            return process, serving.wait_for(port, process)

        instances = [start(port) for port in ports]
        servers = [address for _, address in instances]
        front = stack.enter_context(serving.nginx(tmp_path, servers, raised))
        stack.callback(is_over.set)
        clients = [pool.submit(answers_of, key) for key in keys]
        for port, (process, _) in zip(ports[:2], instances[:2], strict=True):
            serving.stop(process)
            start(port)
            time.sleep(0.5)
        is_over.set()
        answers = sum((client.result() for client in clients), Counter())
    assert {*answers} == {"GET 200", "POST 200"}, answers
    assert answers.total() > 300
