"""What the extension adds: the service that lists holders after older blocks."""

from scan.extensions.past_holders.queries import HolderLists
from scan.http.hooks import Service
from scan.queries import tokens

HOOKS = Service(make=lambda core: HolderLists(), base=tokens.PastHolders)
