"""`scan webhooks`: lists and removes active webhooks in the database, whoever made them."""

import argparse
import sys

from scan import parameters
from scan.commands import EXIT_FAILED, arguments, startup
from scan.observability.logs import print_lines
from scan.settings import Settings
from scan.webhooks import endings

REMOVE = """\
Stops webhooks: waiting events are not sent. Whoever may change a webhook can activate it again;
with SCAN_ACCESS=keys, only clients with access. A key's webhooks end within 5 s of its removal:
scan key remove."""
NAMES = ("id", "owner", "watched", "events", "url", "createdAt", "key", "user")


def add_webhooks(group: argparse.ArgumentParser) -> None:
    actions = arguments.add_actions(group)
    lists = arguments.add_list(actions, "print the active webhooks in the database", list_, NAMES)
    lists.add_argument("--owner", help="only webhooks of this address")
    lists.add_argument("--user", help="only those of this person, whom a proxy has signed in")
    remove = arguments.add_command(actions, "remove end", "stop webhooks", REMOVE, end)
    text = "as `scan webhooks list` prints it"
    remove.add_argument("ids", nargs="+", type=arguments.whole_number, metavar="ID", help=text)


def list_(settings: Settings, options: argparse.Namespace) -> int:
    """Print a row per webhook. `watched` is an address or the number of addresses, `url` has scheme
    and host alone; with SCAN_ACCESS=keys, `key` and `user` made it."""
    owner = None if options.owner is None else parameters.address(options.owner, "--owner")
    with startup.connected(settings, "scan-webhooks") as database:
        rows = database.rows("commands/webhooks_list", owner=owner, person=options.user)
    arguments.print_rows(options, rows)
    return 0


def end(settings: Settings, options: argparse.Namespace) -> int:
    with startup.connected(settings, "scan-webhooks") as database:
        rows = database.rows("commands/webhooks_list", owner=None, person=None)
        unknown = {*options.ids} - {row[0] for row in rows}
        for id_ in options.ids:
            if id_ in unknown:
                print_lines(f"scan: no active webhook {id_}", file=sys.stderr)
            else:
                endings.end(database, id_, "an operator ended the webhook")
                print_lines(f"ended {id_}")
    return EXIT_FAILED if unknown else 0
