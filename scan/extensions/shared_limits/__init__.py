"""Rate limits that several hosts share in Redis: one script a round trip, and what happens while
Redis is away.

Input: the windows that requests are charged to. Output: their results. Without it, the package
`limits` counts in its own storages, and each request tries a storage that does not respond. Start
with shared_windows.py.
"""

from scan.registry import Extension

EXTENSION = Extension("limits in Redis with many requests a round trip, also while it is away")
