"""Which authorizations took effect, in bulk backfills."""

ACCEPT = ("bulk/authorizations_accept",)
