"""The sockets of a process."""

from scan.extensions.phoenix.broadcaster import Sockets
from scan.http.hooks import Service

HOOKS = Service(make=Sockets)
