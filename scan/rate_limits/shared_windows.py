"""The store of windows in SCAN_RATE_LIMIT_STORAGE: one Redis server, or another storage of the
package `limits`."""

from limits.storage import RedisClusterStorage, RedisStorage

from scan.rate_limits.library_windows import LibraryWindows
from scan.rate_limits.memory_windows import ProcessWindows
from scan.rate_limits.redis_windows import RedisWindows, WhenLost
from scan.rate_limits.storage_health import StorageHealth
from scan.rate_limits.windows import RateLimitResult, Window, WindowStore, refuse
from scan.settings import Settings


def windows(settings: Settings) -> WindowStore:
    """Return the store. Raises SettingError if the storage does not support moving windows."""
    when_lost: WhenLost = refuse
    if settings.rate_limit_when_storage_is_lost == "local":
        local = ProcessWindows()
        when_lost = lambda windows: local.charge(*windows)  # noqa: E731
    store = WindowsInTurn(settings.rate_limit_storage, when_lost)
    storage = store.storage
    # A cluster may have two windows on two servers, which one script cannot access.
    if isinstance(storage, RedisStorage) and not isinstance(storage, RedisClusterStorage):
        client, errors = storage.get_connection(), storage.base_exceptions
        return RedisWindows(client, errors, store.health, when_lost)
    return store


class WindowsInTurn(LibraryWindows):
    """Windows in a storage that our script cannot use. A lost storage is not tried: a request to an
    unreachable cluster takes twice the time-out."""

    def __init__(self, uri: str, when_lost: WhenLost) -> None:
        super().__init__(uri)
        self.health = StorageHealth(self.storage.check)
        self._when_lost = when_lost

    def charge(self, *windows: Window, is_counted: bool = True) -> RateLimitResult:
        if not self.health.is_lost:
            try:
                return self._charge_all(windows, is_counted)
            except self._errors as error:
                self.health.lose(error)
        return self._when_lost(windows)
