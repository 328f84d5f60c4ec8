"""What other programs read of the pages: feeds, Markdown, files at well-known paths, redirects.

Input: requests of readers of feeds, crawlers and language models. Output: documents of what pages
and the API show.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "feeds, pages as Markdown, /llms.txt and other files; redirects from other explorers",
    needs=("transaction_details",),
    paths=("llms.txt", "robots.txt", ".well-known/"),
)
