"""HTML for people: the landing page and the API's documentation.

Enters: a browser's GET. Leaves: HTML rendered on the server, with a strict content policy.
Start with landing.py; its templates are in templates/.
"""
