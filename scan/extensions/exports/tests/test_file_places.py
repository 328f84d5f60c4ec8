"""Places of lists that are written as files: of each client one, and a third client waits."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import pytest

from scan.errors import ClientBusy, Unavailable
from scan.extensions.exports import list_files

pytestmark = pytest.mark.check


def test_a_third_client_waits_for_a_place(monkeypatch):
    monkeypatch.setattr(list_files, "WRITING_WAIT_S", 30.0)
    places = list_files.FilePlaces()

    def write(client):
        with places.writing(client):
            return client

    with ThreadPoolExecutor(1) as pool, ExitStack() as held:
        held.enter_context(places.writing("a"))
        held.enter_context(places.writing("b"))
        third = pool.submit(write, "c")
        while not places._writing._waiting:
            assert not third.done()
        held.close()
        assert third.result() == "c"


def test_who_waits_in_vain_is_told_how_long_files_take(monkeypatch):
    monkeypatch.setattr(list_files, "WRITING_WAIT_S", 0.0)
    places = list_files.FilePlaces()
    places._seconds.append(90.0)
    with places.writing("a"), places.writing("b"):
        later = places._began_at[0] + 40.5
        monkeypatch.setattr(list_files.time, "monotonic", lambda: later)
        with pytest.raises(Unavailable) as refused, places.writing("c"):
            pass
    assert refused.value.status == 503
    assert refused.value.headers["Retry-After"] == "50"


def test_a_client_has_one_file_at_a_time():
    places = list_files.FilePlaces()
    with places.open.place("a"):
        with pytest.raises(ClientBusy), places.open.place("a"):
            pass
        with places.open.place("b"):
            pass
