"""What `scan run` runs without RPC_URL, the demo chain, and with --recording, what a file has."""

import logging
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from scan.commands.run import OwnNode, run_chain
from scan.environment import without_password
from scan.errors import SettingError
from scan.extensions.demo import demo_chain, demo_data, demo_node
from scan.extensions.demo.demo_node import RECORDING, DemoNode
from scan.settings import Settings

log = logging.getLogger(__name__)


def run_recording(settings: Settings, recording: Path) -> int:
    """Run with a node that replays a recording, on a database of its own."""
    if settings.database_url:
        reason = "must not be set with --recording, which gets a database of its own"
        raise SettingError("DATABASE_URL", without_password(settings.database_url), reason)

    def start(settings: Settings) -> Settings:
        try:
            return _following(settings, demo_node.start(recording))
        except ValueError as error:
            raise SettingError("--recording", str(recording), str(error)) from None

    return run_chain(settings, OwnNode(start, _digest(recording), lambda _: None))


def run_demo_chain(settings: Settings) -> int:
    """Run with the bundled demo chain, which goes on."""

    def start(settings: Settings) -> Settings:
        named = replace(settings, chain_name=settings.chain_name or "Demo chain")
        return _following(named, demo_chain.start(settings.data_dir))

    def fill(settings: Settings) -> None:
        log.info("RPC_URL is not set: using the bundled demo chain")
        demo_data.load(settings)

    return run_chain(settings, OwnNode(start, _digest(RECORDING), fill))


def _digest(recording: Path) -> str:
    try:
        return sha256(recording.read_bytes()).hexdigest()[:8]
    except OSError as error:
        raise SettingError("--recording", str(recording), error.strerror or str(error)) from None


def _following(settings: Settings, server: DemoNode) -> Settings:
    return replace(settings, rpc_urls=(server.url,), start_block=server.recording.first)
