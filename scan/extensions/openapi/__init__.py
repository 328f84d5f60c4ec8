"""The API as an OpenAPI document at /api/v1/openapi.json, and /docs, where a browser can try it.

Input: the tables of scan/api/openapi/ and of extensions' openapi.toml. Output: the document, of
which others make tools and columns of files. Start with document.py and declarations.py, then
schemas.py and operations.py, which say what entries of the tables mean.
"""

from scan.registry import Extension

EXTENSION = Extension("the OpenAPI document of the API, and its pages at /docs", paths=("docs/",))
