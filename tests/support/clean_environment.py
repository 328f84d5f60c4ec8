"""The tests, and all that they start, see none of the machine's variables for Scan, gunicorn or
PostgreSQL's clients. tests/fixtures.py imports this before anything that reads them."""

import os

OF_SCAN = """
    DATABASE_URL READ_DATABASE_URL RPC_URL HOST PORT REQUESTS_CA_BUNDLE WEB_CONCURRENCY
    GUNICORN_CMD_ARGS
""".split()
LOOPBACK = "localhost,127.0.0.1,::1"


def is_left_out(name):
    is_of_tests = name.startswith("SCAN_TEST_")
    return not is_of_tests and (name in OF_SCAN or name.startswith(("SCAN_", "PG")))


for _name in [*filter(is_left_out, os.environ)]:
    del os.environ[_name]
for _name in ("NO_PROXY", "no_proxy"):  # packages may need the machine's proxy; servers here do not
    os.environ[_name] = ",".join(filter(None, (os.environ.get(_name), LOOPBACK)))
