"""From events in the tables to signed POSTs at their receivers, by any number of processes.

Enters: deliveries that the indexer wrote. Leaves: signed requests, and how each attempt ended.
Start with registration.py (which webhooks there may be) and owner_actions.py (stop, activate, test,
retry); for deliveries dispatcher.py (sets up the rest), lease_delivery.py (the attempts of one
lease), queues.py (what is due), sender.py (one attempt), urls.py (where a webhook may point); then
lease_threads.py, listener.py, maintenance.py, retry_schedule.py and deadlines.py.
"""
