"""Webhooks: their registration, and the delivery of events as signed POST requests.

Input: deliveries written by the indexer. Output: signed requests, and the result of each attempt.
Start with registration.py (which webhooks are allowed; stop, activate, test, retry); for
deliveries, of which any number of processes share the work, with dispatcher.py (the loop, and the
attempts of a lease), queues.py (due deliveries), messages.py (events as sentences for people) and
sender.py (one attempt). scan/outbound has deadlines and which URLs are allowed.
"""
