"""Requests to servers that anybody can name: webhooks' receivers, and hosts of documents.

Input: a URL. Output: a connection to a public address that was checked, within a deadline.
Start with connection.py (CheckedConnection), then allowed_urls.py (which URLs and addresses are
allowed) and https_client.py (connections and documents).
"""
