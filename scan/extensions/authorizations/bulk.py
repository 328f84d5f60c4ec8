"""Which authorizations took effect, in bulk backfills."""

from scan.extensions.bulk.hooks import Bulk

HOOKS = Bulk(accept=("bulk/authorizations_accept",))
