"""Webhooks: their registration, and the delivery of events as signed POST requests.

Input: deliveries written by the indexer. Output: signed requests, and the result of each attempt.
Start with registration.py (which webhooks are allowed; stop, activate, test, retry); for
deliveries, of which any number of processes share the work, with dispatcher.py (the loop, and the
attempts of a lease), queues.py (due deliveries) and sender.py (one attempt; extensions deliver to
URLs of other schemes). scan/outbound has deadlines and which URLs are allowed.
"""
