"""What a worker starts beside serving: each thread once."""

import gc
import runpy
from collections import Counter
from types import SimpleNamespace

from scan.http.background_threads import WorkerThread
from tests.support.serving import ROOT


def test_a_worker_starts_each_thread_beside_serving_once(indexed_template, client, monkeypatch):
    started = []
    monkeypatch.setattr(WorkerThread, "start", lambda thread: started.append(thread))
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setenv("DATABASE_URL", client.application.extensions["scan"].settings.database_url)
    hooks = runpy.run_path(str(ROOT / "gunicorn.conf.py"))
    worker = SimpleNamespace(wsgi=client.application)
    monkeypatch.setitem(hooks["post_worker_init"].__globals__, "gc", gc)
    hooks["post_worker_init"](worker)
    for running in {worker.deliveries, *worker.beside_serving} - {*started}:
        running.stop()
    names = Counter(thread._thread.name for thread in started)
    assert "creations" in names and {*names.values()} == {1}, names
