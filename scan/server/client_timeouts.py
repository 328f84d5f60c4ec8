"""Times that the worker waits for a client before it ends the connection: for the head and the body
of a request, and until the client has taken the response."""

HEAD_WAIT_S = 10.0
BODY_WAIT_S = 30.0
SEND_WAIT_S = 60.0  # in an event stream: since the client has last taken any bytes
FILE_BYTES_PER_S = 32 * 1024  # a client that takes a file more slowly is disconnected
CLOSE_WAIT_S = 2.0
STOP_WAIT_S = 5.0  # for requests and responses under way when the worker stops
