"""What lives as long as the process: the media of items."""

from scan.extensions.items.item_media.media_cache import ItemMedia
from scan.extensions.items.item_media.settings import Settings
from scan.http.hooks import Service
from scan.http.request_state import Services
from scan.outbound.connection import tls_context
from scan.outbound.document_fetcher import DocumentFetcher


def service(core: Services) -> object:
    settings, own = core.settings, core.settings.of(Settings)
    if not own.nft_media:
        return ItemMedia(None)
    fetcher = DocumentFetcher(tls_context(settings.ca_bundle))
    return ItemMedia(fetcher, own.ipfs_gateway, settings.webhook_allow_networks)


HOOKS = Service(make=service)
