"""Documents of servers that anybody can name, for extensions that read some.

Input: a URL. Output: the document, or why it was not fetched, over the checked connections of
scan/outbound/. Start with DocumentFetcher of document_fetcher.py.
"""

from scan.registry import Extension

EXTENSION = Extension("fetches documents from other servers, for other extensions")
