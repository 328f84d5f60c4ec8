"""PgBouncer in front of a database of the tests, on loopback."""

import os
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.support.serving import accepts, ending, free_port, program, wait_until

USER = "postgres"


@contextmanager
def pgbouncer(database_url, mode, **settings):
    """The database's address through a pooler in this pool_mode; `settings` are PgBouncer's."""
    parts = urlsplit(database_url)
    server = parse_qs(parts.query)["host"][0]
    port = free_port()
    given = {
        "listen_addr": "127.0.0.1",
        "listen_port": str(port),
        "unix_socket_dir": "",
        "auth_type": "any",
        "pool_mode": mode,
        "server_reset_query": "DISCARD ALL",
        "ignore_startup_parameters": "extra_float_digits",
        "max_client_conn": "500",
        "default_pool_size": "100",
        **dict.fromkeys(("log_connections", "log_disconnections", "log_stats"), "0"),
        **settings,
    }
    with tempfile.TemporaryDirectory(prefix="scan-pgbouncer-") as folder:
        path = Path(folder) / "pgbouncer.ini"
        lines = (f"{name} = {value}" for name, value in given.items())
        database = f"* = host={server} user={USER}"
        path.write_text("\n".join(("[databases]", database, "[pgbouncer]", *lines, "")))
        Path(folder).chmod(0o755)
        # PgBouncer refuses to run as root, and the socket lies in a folder of its owner's alone.
        user = ["-u", Path(server).owner()] if os.getuid() == 0 else []
        command = [program("pgbouncer"), *user, str(path)]
        with ending(command, stdout=subprocess.DEVNULL) as process:
            wait_until(lambda: accepts(port), process)
            yield f"postgresql://{USER}@127.0.0.1:{port}{parts.path}"
