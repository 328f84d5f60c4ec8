"""The extensions: a folder each, which scan/registry.py finds. README.md says what one may have."""
