"""From events in the tables to signed POSTs at their receivers, by any number of processes.

Enters: deliveries that the indexer wrote. Leaves: signed requests, and how each attempt ended.
Start with dispatcher.py (puts the parts together), lease_delivery.py (the attempts of one lease),
queues.py (what is due), sender.py (one attempt), urls.py (where a webhook may point); then
lease_threads.py, listener.py, maintenance.py, retry_schedule.py and deadlines.py.
"""
