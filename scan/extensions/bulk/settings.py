# ruff: noqa: E501 (a setting is one line)
"""The settings of a cluster."""

from dataclasses import dataclass

from scan.environment import existing_path, setting


@dataclass(frozen=True)
class Settings:
    # fmt: off
    cluster_ca: str = setting("SCAN_CLUSTER_CA", existing_path, "none", "file with the authority's certificate, for `scan backfill chain --cluster`", unset="")
    cluster_cert: str = setting("SCAN_CLUSTER_CERT", existing_path, "none", "file with its own certificate", unset="")
    cluster_key: str = setting("SCAN_CLUSTER_KEY", existing_path, "none", "file with its own key", unset="")
    # fmt: on
