"""What is sent first, in whose turn, and what becomes of sockets that lack something."""

import json
import threading

import pytest
from wsproto import ConnectionType, WSConnection
from wsproto.events import CloseConnection, Request, TextMessage
from wsproto.frame_protocol import CloseReason

from scan.errors import Unavailable
from scan.extensions.phoenix import broadcaster
from tests.support import WAIT_S, indexing, made_blocks, serving
from tests.support.database import insert

pytestmark = pytest.mark.thorough

ANNA, BERT = made_blocks.address("anna"), made_blocks.address("bert")
OF_ANNA = f"addresses:0x{ANNA.hex()}"


@pytest.fixture
def chain(database_url, chain):
    insert(database_url, "chain", chain_id=1)  # else nobody is notified
    chain.append()
    return chain


@pytest.fixture
def joined(database_url, chain):
    """What makes a socket that has joined a topic."""
    app = indexing.client_over(database_url).application
    sources = app.extensions["scan"].sources
    sockets, streams = (
        sources.get(of) for of in (broadcaster.Sockets, broadcaster.broadcaster.Streams)
    )
    clients = []

    def join(topic, address="192.0.2.1"):
        clients.append(client := Client(sockets.open(address, app)))
        client.join(topic)
        # The stream goes on from the newest block when it is opened.
        serving.wait_until(lambda: sockets._stream is not None and streams._live_streams())
        return client

    yield join
    for client in clients:
        client.socket.close()


class Client:
    """The connection of a socket, and its client's end of the protocol."""

    def __init__(self, socket):
        self.socket = socket
        self.messages, self.close_code, self.has_ended = [], None, False
        self._protocol = WSConnection(ConnectionType.CLIENT)
        handshake = self._protocol.send(Request(host="scan", target="/")).decode()
        fields = [line.split(": ") for line in handshake.split("\r\n")[1:] if line]
        environ = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in fields}
        self.send(socket.accept(environ | {"REQUEST_METHOD": "GET", "PATH_INFO": "/"}))
        socket.attach(self)

    def join(self, topic):
        message = json.dumps(["1", "1", topic, "phx_join", {}])
        self.socket.receive(self._protocol.send(TextMessage(message)))

    def send(self, data, then=None):
        self._protocol.receive_data(data)
        for event in self._protocol.events():
            if isinstance(event, TextMessage):
                self.messages.append(json.loads(event.data)[2:4])
            elif isinstance(event, CloseConnection):
                self.close_code = event.code

    def end(self):
        self.has_ended = True

    def has(self, topic, event, times=1):
        return self.messages.count([topic, event]) >= times


def test_heads_come_while_messages_about_addresses_take_long(joined, chain, monkeypatch):
    """As where a client has joined hundreds of them, or the node does not answer."""
    is_answered, of_address = threading.Event(), broadcaster._of_address

    def slow(*arguments):
        is_answered.wait(WAIT_S)
        yield from of_address(*arguments)

    monkeypatch.setattr(broadcaster, "_of_address", slow)
    of_address_, of_blocks = joined(OF_ANNA), joined("blocks:new_block", "192.0.2.2")
    try:
        for number in range(1, 4):
            chain.append([made_blocks.Move(ANNA, BERT)])
            serving.wait_until(lambda n=number: of_blocks.has("blocks:new_block", "new_block", n))
        assert not of_address_.has(OF_ANNA, "transaction")
    finally:
        is_answered.set()
    serving.wait_until(lambda: of_address_.has(OF_ANNA, "count", 2))
    # The second and the third block are told together.
    assert of_address_.messages.count([OF_ANNA, "transaction"]) == 2


def test_clients_take_turns_and_none_waits_for_more_than_its_part():
    due = broadcaster.DueAddresses()
    for number in range(broadcaster.MOST_DUE + 5):
        due.add("hostile", f"0x{number}", {"transactions": [{}]})
    due.add("honest", "0xa", {"transactions": [{"hash": 1}]})
    due.add("honest", "0x0", {"transactions": [{}]})
    due.add("honest", "0xa", {"transactions": [{"hash": 2}], "token_transfers": [{}]})
    taken = [due.next() for _ in range(broadcaster.MOST_DUE + 1)]
    # What two wait for is made once.
    expected = ["0x0", "0xa", *(f"0x{number}" for number in range(1, broadcaster.MOST_DUE))]
    assert [address for address, _ in taken] == expected
    assert taken[1][1] == {"transactions": [{"hash": 1}, {"hash": 2}], "token_transfers": [{}]}
    due.add("late", "0xb", {"transactions": [{}]})
    assert due.next()[0] == "0xb"  # nothing else is left


def test_a_socket_that_lacks_records_is_closed(joined, chain, monkeypatch):
    """Whether more came than is kept, or a block's messages could not be made."""
    of_blocks = joined("blocks:new_block")
    monkeypatch.setattr(broadcaster, "MOST_UNREAD_BYTES", 10)
    chain.append()
    serving.wait_until(lambda: of_blocks.has_ended)
    assert of_blocks.close_code == CloseReason.TRY_AGAIN_LATER
    monkeypatch.undo()
    of_blocks.socket.close()
    of_blocks = joined("blocks:new_block")
    monkeypatch.setattr(broadcaster, "_of_heads", _fail)
    chain.append()
    serving.wait_until(lambda: of_blocks.has_ended)
    assert of_blocks.close_code == CloseReason.TRY_AGAIN_LATER


def test_of_an_address_without_messages_the_sockets_alone_are_closed(joined, chain, monkeypatch):
    of_address, of_blocks = joined(OF_ANNA), joined("blocks:new_block", "192.0.2.2")
    monkeypatch.setattr(broadcaster, "_of_address", _fail)
    chain.append([made_blocks.Move(ANNA, BERT)])
    serving.wait_until(lambda: of_address.has_ended)
    chain.append()
    serving.wait_until(lambda: of_blocks.has("blocks:new_block", "new_block", 2))
    assert not of_blocks.has_ended


def _fail(*_):
    raise Unavailable("The database is away.")
    yield
