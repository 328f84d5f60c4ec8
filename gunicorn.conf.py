"""How the API is served: one process, eight threads."""

from scan.settings import Settings

_settings = Settings.from_environment()

bind = f"{_settings.host}:{_settings.port}"
worker_class = "gthread"
workers = 1
threads = 8
keepalive = 30
graceful_timeout = 15
