"""The labels of addresses as CSV files: `scan labels`. The core shows what the table labels has."""

from scan.registry import Extension

EXTENSION = Extension(
    "labels of addresses, imported and exported by `scan labels`",
    "operating",
    commands={"labels": "manage labels of addresses"},
)
