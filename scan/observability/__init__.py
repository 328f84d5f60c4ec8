"""Observability for operators: log lines, metrics, one record for each request.

Input: events of the other layers. Output: lines on stderr, series at /metrics.
Start with logs.py (format, redaction, requests), then metrics.py (every series).
"""
