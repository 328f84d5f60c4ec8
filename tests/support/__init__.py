"""What tests share."""

WAIT_S = 180.0  # how long a test waits for what has to come
POLL_S = 5.0  # and for one of the answers that it asks for until one is as wanted
