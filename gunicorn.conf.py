"""How the API is served: one process, eight threads."""

from scan.settings import Settings

_settings = Settings.from_environment()

bind = f"{_settings.host}:{_settings.port}"
worker_class = "gthread"
workers = 1
threads = 8
keepalive = 30
graceful_timeout = 15


def post_worker_init(worker):
    """Webhooks are delivered beside serving, after the fork; nothing of it starts at import."""
    worker.deliveries = None
    if _settings.delivers and _settings.database_url:
        from scan.delivery.pool import Pool

        worker.deliveries = Pool(_settings)
        worker.deliveries.start()


def worker_exit(server, worker):
    """Leases are given back, or another process would wait for them to expire."""
    if getattr(worker, "deliveries", None):
        worker.deliveries.stop()
