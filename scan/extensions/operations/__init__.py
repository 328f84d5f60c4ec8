"""For whoever operates the service: checks of all that it depends on, and metrics of it.

Input: the node, the database, the machine. Output: findings with advice, metrics, exit codes.
"""

from scan.registry import Extension

EXTENSION = Extension(
    "scan doctor, scan status, and /metrics for Prometheus",
    "operating",
    paths=("metrics",),
    commands={
        "doctor": "check the node, the database, compilers, disks and clocks",
        "status": "report whether a running service is ready, and how far it is behind the node",
    },
)
