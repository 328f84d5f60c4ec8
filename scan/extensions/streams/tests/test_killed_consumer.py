"""A consumer that is killed again and again, while blocks come and forks take them back, has in the
end exactly what the chain has: nothing lost, nothing twice."""

import random
import threading

import pytest

from scan.extensions.streams.tests.conftest import WITHOUT_LIMITS
from tests.support import WAIT_S, event_source, serving
from tests.support.weather import Weather, block_of, whole

TYPES = ("heads", "transactions", "token_transfers", "internal_transfers", "dex_trades")


@pytest.mark.long
def test_a_consumer_killed_again_and_again_has_what_the_chain_has(database_url):
    """Also where the server is started anew."""
    seed = random.randrange(10**6)
    weather, is_over, choice = Weather(database_url, seed), threading.Event(), random.Random(seed)
    held, last_id = [], f"0-{weather.client.get('/api/v1/blocks/0').json['hash']}-0"

    def grow():
        while not is_over.wait(0.03):
            weather.change()
        weather.chain.append()  # the last event is its head

    def consume(source, count):
        """So many events, after which it is killed: what has come beyond is lost to it."""
        with source:
            for event in source.take(count):
                if event.data.pop("removed", False):
                    assert held.pop() == (event.type, event.data)
                else:
                    held.append((event.type, event.data))

    growing = threading.Thread(target=grow)
    growing.start()
    for _ in range(2):
        with serving.gunicorn(database_url, **WITHOUT_LIMITS) as server:
            source = event_source.EventSource(server, types=",".join(TYPES))
            source.last_id = last_id
            for _ in range(6):
                consume(source, choice.randint(1, 150))
            last_id = source.last_id
    is_over.set()
    growing.join(WAIT_S)
    newest = weather.client.get("/api/v1/blocks?limit=1").json["blocks"][0]
    with serving.gunicorn(database_url, **WITHOUT_LIMITS) as server:
        source = event_source.EventSource(server, types=",".join(TYPES))
        source.last_id = last_id
        while held[-1] != ("heads", newest):
            consume(source, 1)
    rows = [
        (block_of(record), index, number, record)
        for index, entity in enumerate(("blocks", *TYPES[1:]))
        for number, record in enumerate(whole(weather.client, {"entity": entity, "orderBy": "asc"}))
    ]
    in_order = sorted(rows, key=lambda row: row[:3])  # of streams
    assert held == [(TYPES[index], record) for _, index, _, record in in_order], f"seed {seed}"
    weather.database.close()
