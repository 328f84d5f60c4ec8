"""What a transaction did and why: a sentence, the reason of a failure, its calls, its changes.

Input: a transaction's record and what the node has of it. Output: fields of the transaction, its
trace and changes of the state, the sentence, reason and tabs of its page.
Start with queries.py, then transaction_summary.py (a sentence from facts), transaction_failures.py
(reasons, kept in a table), trace_decoding.py and state_changes.py. message_summaries.py makes
sentences for webhooks' messages.
"""
