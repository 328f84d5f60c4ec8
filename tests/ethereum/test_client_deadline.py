"""A node that takes a question and says nothing holds up a reader once, not again and again."""

import socket
import threading

import pytest

from scan.ethereum.client import Call, Node, NodeError

pytestmark = pytest.mark.check


def test_a_deadline_is_for_all_of_a_batch():
    """Halves of a batch that timed out are not asked for anew, each with a deadline of its own."""
    connections = []
    with socket.create_server(("127.0.0.1", 0)) as silent:
        thread = threading.Thread(target=_accept, args=(silent, connections), daemon=True)
        thread.start()
        node = Node([f"http://127.0.0.1:{silent.getsockname()[1]}"])
        with pytest.raises(NodeError):
            node.batch([Call("eth_getBalance", ()), Call("eth_getCode", ())], 0.2)
        asked = len(connections)
        silent.shutdown(socket.SHUT_RDWR)
    thread.join()
    for connection in connections:
        connection.close()
    assert asked == 1


def _accept(server, connections):
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        connections.append(connection)
