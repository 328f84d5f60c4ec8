"""What operators watch: GET /metrics, the database's disk and health, and `scan status`.

Input: the database, and the counters of scan/observability. Output: series for Prometheus,
forecasts for `scan doctor` and bulk backfills, the state of a running service. Start with
interface.py.
"""
