"""What `scan doctor` advises where blocks were indexed without traces."""

CURE_OF_UNTRACED_BLOCKS = "run `scan backfill traces` with a node that has their state"
