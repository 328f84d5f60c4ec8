"""The API's OpenAPI document, made of the tables beside this file and of sql/records.toml, and the
pages that show it.

Start with document.py; it and schemas.py say what entries of the tables mean.
"""
