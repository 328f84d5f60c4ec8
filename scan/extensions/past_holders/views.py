"""What the extension adds: the service that lists holders after older blocks."""

from scan.extensions.past_holders.holder_files import MAKING_S, HolderFiles
from scan.extensions.past_holders.queries import HolderLists
from scan.http.hooks import Service
from scan.http.services import Services, connect
from scan.queries import tokens

# Of a statement, twice as much where it groups: 400,000 holders take 40 MB.
WORK_MEM = "32MB"


def holder_lists(core: Services) -> HolderLists:
    settings, url = core.settings, core.settings.read_database_url
    short = connect(settings, url, work_mem=WORK_MEM)
    long = connect(settings, url, statement_timeout_ms=int(MAKING_S * 1000), work_mem=WORK_MEM)
    return HolderLists(HolderFiles(settings.data_dir / "files", short, long, core.writes))


HOOKS = Service(make=holder_lists, base=tokens.PastHolders)
