"""Files that programs look for first: /llms.txt, /robots.txt, /.well-known/api-catalog and
security.txt.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "/llms.txt, /robots.txt, /.well-known/api-catalog and security.txt",
    paths=("llms.txt", "robots.txt", ".well-known/"),
)
