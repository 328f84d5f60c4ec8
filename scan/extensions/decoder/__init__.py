"""The decoder: calldata, logs, errors and constructor arguments that a client sends, and back.

Start with decoding.py (candidates, nested calls), then nested_calls.py (which arguments are calls)
and views.py (calldata of a function and its arguments, endpoints, pages).
"""
