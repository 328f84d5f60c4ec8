"""How gunicorn serves Scan: the rate limits hold exactly because of what stands here."""

import ctypes
import gc
import resource
import sys
from contextlib import suppress
from pathlib import Path

from scan import registry
from scan.errors import SettingError
from scan.rate_limits.limiter import counts_in_process, make_limiter
from scan.settings import Settings

_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8  # of malloc.h
with suppress(AttributeError, OSError):  # another C library has none
    _libc = ctypes.CDLL(None)
    # By default glibc keeps blocks below the size of the largest that was freed, up to 32 MiB
    # each: of a process that had once read large logs, 300 MiB.
    _libc.mallopt(_M_MMAP_THRESHOLD, 256 * 1024)
    # A thread's own arena grows page by page, with a system call for each response, and saves
    # no wait: the interpreter's lock is held where most memory is allocated.
    _libc.mallopt(_M_ARENA_MAX, 1)

try:
    _settings = Settings.from_environment()
except SettingError as error:
    sys.exit(str(error))


def _raise_descriptor_limit():
    """How many files the worker may have open: an idle connection needs one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    raised = 16_384 if hard == resource.RLIM_INFINITY else min(hard, 16_384)
    if soft != resource.RLIM_INFINITY and soft < raised:
        resource.setrlimit(resource.RLIMIT_NOFILE, (raised, hard))
        return raised
    return 16_384 if soft == resource.RLIM_INFINITY else soft


bind = (
    f"[{_settings.host}]:{_settings.port}"
    if ":" in _settings.host
    else f"{_settings.host}:{_settings.port}"
)
worker_class = "scan.server.worker.Worker"
threads = 8
# `workers` is not set here: WEB_CONCURRENCY and -w say how many, and on_starting whether
# that many can count together.

# No peer's header may set the scheme, the script name or the path, which nothing here depends on.
# "*" saves reading the peer's address for each request: it trusts everybody with nothing.
forwarded_allow_ips = "*"
secure_scheme_headers = {}
forwarder_headers = ""

# The heartbeat comes from the main loop, so a slow answer does not end a worker; a hung loop
# does. scan.server.worker has its own limits for clients.
timeout = 30
graceful_timeout = 15  # `scan run` waits 20 s
# Longer than nginx keeps an idle upstream connection (deploy/nginx.conf: 30 s), so that nginx,
# which can retry, is the one to close it.
keepalive = 35
_descriptors = _raise_descriptor_limit()
# As many as there are descriptors for, beside those of threads, files and the database.
worker_connections = max(64, min(8192, _descriptors - 128))
backlog = 1024
# A 10 kB X-API-Key still reaches the application and its 401.
limit_request_line = 8190
limit_request_fields = 100
limit_request_field_size = 16384
# The heartbeat file on a disk can stall a worker for the disk's sake.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None
# gunicorn's control socket would lie in the home directory and could add workers.
control_socket_disable = True
logger_class = "scan.server.responses.GunicornLogs"
# Files go through the response buffer as well, so that no thread waits for a client.
sendfile = False
# No max_requests: a restarted worker starts with empty windows.


def on_starting(server):
    """Stops the start where limits could not be exact, or the database can never be used."""
    from scan.commands.startup import require_usable_database  # reads SCAN_EXTENSIONS

    try:
        make_limiter(_settings)
        if _settings.database_url:
            require_usable_database(_settings, reads=True)
    except SettingError as error:
        sys.exit(str(error))
    if server.cfg.workers > 1 and counts_in_process(_settings):
        sys.exit(_one_worker(server.cfg.workers))


def nworkers_changed(server, new_value, old_value):
    """SIGTTIN asks for one more worker while running."""
    if new_value > 1 and counts_in_process(_settings) and old_value is not None:
        server.log.error(_one_worker(new_value))
        server.num_workers = 1


def post_worker_init(worker):
    """What runs beside serving, in threads, which would not survive the fork."""
    # What was imported stays. To look through it for garbage stopped all threads for 45 ms, once in
    # 8,000 responses that were new to the cache.
    gc.collect()
    gc.freeze()
    if _settings.database_url:
        from scan.http import background_threads
        from scan.http.hooks import Worker

        services = worker.wsgi.extensions["scan"]
        worker.beside_serving = [
            thread
            for threads in (
                background_threads.threads,
                background_threads.equal_creations_threads,
                background_threads.restored_sources_threads,
                *(part.threads for part in registry.parts(Worker)),
            )
            for thread in threads(services)
        ]
        for thread in worker.beside_serving:
            thread.start()
    if _settings.delivers and _settings.database_url:
        from scan.http.process_services import message_summaries
        from scan.queries.network import SYMBOLS
        from scan.webhooks.dispatcher import Dispatcher

        worker.deliveries = Dispatcher(
            _settings,
            coin_symbols=SYMBOLS,
            summaries=message_summaries(lambda: worker.wsgi.extensions["scan"]),
        )
        worker.deliveries.start()


def worker_exit(server, worker):
    """Gives back the leases, and writes what is still only in memory: the usage of keys."""
    for thread in getattr(worker, "beside_serving", ()):
        thread.stop()
    if hasattr(worker, "deliveries"):
        worker.deliveries.stop()
    if worker.booted and _settings.database_url:
        worker.wsgi.extensions["scan"].key_usage.close()


def _one_worker(workers):
    return (
        f"{workers} workers with SCAN_RATE_LIMIT_STORAGE=memory:// would each count on their own,"
        " and every limit would be that many times too high. Run one worker (unset"
        " WEB_CONCURRENCY and -w), several single-worker instances behind deploy/nginx.conf,"
        " or set SCAN_RATE_LIMIT_STORAGE=redis://host:6379."
    )
