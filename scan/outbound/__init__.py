"""HTTP requests to all servers but the node: webhooks' receivers and hosts of documents, whose URLs
anybody can write, and servers that the operator names.

Input: a URL. Output: its response, from an address that was checked, within a deadline and a bound.
Start with http_client.py (HttpClient, CheckedConnection), then allowed_urls.py (which URLs and
addresses are allowed) and picture_types.py (whether a document is a picture).
"""
