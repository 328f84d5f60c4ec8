"""From events in the tables to signed POSTs at their receivers, by any number of processes.

Enters: events that the indexer wrote. Leaves: requests to receivers, and how each attempt ended.
Start with dispatcher.py (leases and threads), then queues.py (what is due), sender.py (one
attempt), urls.py (where a webhook may point), retry_schedule.py, deadlines.py.
"""
