"""What other programs read of the pages: feeds, files at well-known paths, redirects.

Input: requests of readers of feeds, crawlers and language models. Output: documents of what pages
and the API show.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "feeds, /llms.txt and other files; redirects from other explorers",
    "comfort",
    needs=("decoding",),
    # The feed of verified contracts has a path below a page of another extension's.
    paths=("llms.txt", "robots.txt", ".well-known/", "verified-contracts/"),
)
