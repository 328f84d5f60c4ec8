"""Delivers webhook events as signed POST requests; any number of processes share the work.

Input: deliveries written by the indexer. Output: signed requests, and the result of each attempt.
Start with registration.py (which webhooks are allowed) and owner_actions.py (stop, activate, test,
retry); for deliveries dispatcher.py (sets up the rest, has its threads), lease_delivery.py (the
attempts of one lease), queues.py (what is due), sender.py (one attempt), urls.py (which URLs are
allowed); then listener.py, retry_schedule.py and deadlines.py.
"""
