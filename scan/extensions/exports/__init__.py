"""Chain data as files: a whole list as CSV or NDJSON, whole tables as CSV or Parquet.

Input: a function that reads one page of a list, or the name of a table. Output: a file.
Start with list_files.py (a list from one snapshot, bounded), then csv_columns.py (the columns of
each list, and how spreadsheets read a cell) and table_export.py (tables).
"""

from scan.registry import Extension

EXTENSION = Extension(
    "lists as CSV and NDJSON files, events and whole tables as Parquet files (scan export)",
    "operating",
    commands={"export": "write whole tables as Parquet or CSV files"},
)
