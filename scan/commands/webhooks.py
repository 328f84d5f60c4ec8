"""`scan webhooks`: lists the active webhooks in the database, whoever made them, and ends some."""

import argparse
import sys

from scan import parameters
from scan.commands import EXIT_FAILED, startup
from scan.commands.arguments import add_actions, add_command, whole_number
from scan.observability.logs import print_lines
from scan.settings import Settings
from scan.webhooks import endings

END = """\
Stops webhooks: events that wait are not sent. Who may change one can activate it again, and with
SCAN_ACCESS=keys only who has access. Webhooks of a key end with it, within 5 s: scan key revoke."""


def add_webhooks(group: argparse.ArgumentParser) -> None:
    actions = add_actions(group)
    lists = add_command(actions, "list", "print the active webhooks in the database", run=list_)
    lists.add_argument("--owner", help="only webhooks of this address")
    lists.add_argument("--user", help="only those of this person, whom a proxy has signed in")
    add_command(actions, "end", "stop webhooks", END, end).add_argument(
        "ids", nargs="+", type=whole_number, metavar="ID", help="as `scan webhooks list` prints it"
    )


def list_(settings: Settings, options: argparse.Namespace) -> int:
    """Print a line per webhook: id, owner, watched address or number of addresses, events, scheme
    and host of its URL, creation, and with SCAN_ACCESS=keys the key and the person that made it."""
    owner = None if options.owner is None else parameters.address(options.owner, "--owner")
    with startup.connected(settings, "scan-webhooks") as database:
        rows = database.rows("commands/webhooks_list", owner=owner, person=options.user)
    print_lines(*(" ".join("-" if v is None else str(v) for v in row) for row in rows))
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
