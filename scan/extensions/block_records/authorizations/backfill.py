"""Which authorizations took effect, in bulk backfills."""

from scan.extensions.backfill.hooks import Backfill

HOOKS = Backfill(accept=("bulk/authorizations_accept",))
