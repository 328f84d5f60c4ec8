"""What the extension adds: the service that lists holders after older blocks."""

from scan.extensions.past_holders.holder_files import MAKING_S, HolderFiles
from scan.extensions.past_holders.queries import HolderLists
from scan.http.hooks import Service
from scan.http.services import Services, connect
from scan.queries import tokens


def holder_lists(core: Services) -> HolderLists:
    url = core.settings.read_database_url
    short = connect(core.settings, url)
    long = connect(core.settings, url, statement_timeout_ms=int(MAKING_S * 1000))
    return HolderLists(HolderFiles(core.settings.data_dir / "files", short, long))


HOOKS = Service(make=holder_lists, base=tokens.PastHolders)
