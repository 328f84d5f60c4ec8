"""What helps where blocks were indexed without traces."""

CURE = "run `scan backfill traces` with a node that has their state"
