"""How much runs at once, in all and of each client.

Start with concurrency_limit.py (places, for which threads wait), then turns.py (requests that wait
without a thread) and waiting_threads.py (those that wait for the node or a compiler).
"""
