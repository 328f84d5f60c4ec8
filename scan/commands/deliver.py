"""`scan deliver`: runs webhook deliveries until a signal."""

import argparse

from scan.commands.arguments import add_metrics_port
from scan.commands.startup import on_stop_signals, prepare_database, require_database, serve_metrics
from scan.settings import Settings
from scan.webhooks.dispatcher import Dispatcher


def add_arguments(command: argparse.ArgumentParser) -> None:
    command.set_defaults(run=run)
    add_metrics_port(command)


def run(settings: Settings, options: argparse.Namespace) -> int:
    require_database(settings)
    serve_metrics(settings, options.metrics_port)
    prepare_database(settings)
    dispatcher = Dispatcher(settings)
    on_stop_signals(dispatcher.request_stop)
    dispatcher.run()
    return 0
