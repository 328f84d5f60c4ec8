"""What extensions add to what serves: interfaces, services, threads, and lists as files."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from flask import Flask, Response

from scan.http.interfaces import Interface
from scan.http.list_formats import Format
from scan.http.services import Services
from scan.queries.list_pages import Page, Window
from scan.registry import Part
from scan.settings import Settings
from scan.verification.restored_sources import SourceQueue
from scan.webhooks import messages

Kind = TypeVar("Kind")


class Interfaces(Part, module="interface", chapter="views"):
    """Interfaces beside the API."""

    register: Callable[[Flask, Settings], Sequence[Interface]]
    """Adds the routes to the application, and returns their interfaces."""


class ListFiles(Part, module="list_files"):
    """Lists as files."""

    send: Callable[
        [
            str,
            Callable[[Window], Page],
            Format,
            Window,
            Mapping[str, str],
            bytes | None,
            Collection[str] | None,
        ],
        Response,
    ]
    """A list as a file: its key in [csv], its pages, format, window and arguments, the address in
    its path, and the names of its columns where it is not in [csv], but its records have these;
    with their types where it may be a Parquet file."""
    short_list: Callable[[str, Sequence[Mapping[str, Any]]], bytes]
    """Records as a CSV file, by their key in [csv]."""


class Service(Part, Generic[Kind], module="api", chapter="views"):
    """What lives as long as the process, where it is made of the core's; Sources.get() returns it
    by type, and makes what needs no arguments."""

    make: Callable[[Services], Kind]
    """Makes it."""
    base: type[Kind] | None = None
    """The class that the core or another extension has for such a service, by which it is known
    there: its own methods are what there is without the extension."""


class UnverifiedSources(Part, module="api", chapter="views"):
    """Sources of contracts that are not verified, which are compiled beside serving."""

    queue: Callable[[Services], SourceQueue]
    """Makes the queue of a process."""


class Summaries(Part, module="message_summaries"):
    """Sentences about transactions in messages of webhooks."""

    make: Callable[[Callable[[], Services]], messages.Summaries]
    """Returns what makes them by the services of a process."""


class Startable(Protocol):
    def start(self) -> None: ...
    def stop(self) -> None: ...


class Worker(Part, module="api", chapter="views"):
    """What runs beside serving."""

    threads: Callable[[Services], Iterable[Startable]]
    """What a worker starts, and stops at its end, such as WorkerThread."""
