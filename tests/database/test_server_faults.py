"""Which known faults a server has, by its version; `scan doctor` and `scan sql-role` say so."""

import pytest

from scan.database.server_faults import known_faults

pytestmark = pytest.mark.check

AUGUST = "CVE-2026-14680, CVE-2026-16239"
NOVEMBER = "CVE-2026-6460"


@pytest.mark.parametrize(
    ("version", "number", "faults", "newest"),
    [
        (160_000, "16.0", f"{AUGUST}, {NOVEMBER}", "16.16"),
        (160_015, "16.15", NOVEMBER, "16.16"),
        (170_010, "17.10", f"{AUGUST}, {NOVEMBER}", "17.12"),
        (180_006, "18.6", NOVEMBER, "18.7"),
    ],
)
def test_a_minor_release_with_known_faults_is_told_with_the_one_that_mends_them(
    version, number, faults, newest
):
    known = known_faults(version)
    assert known.text == f"in PostgreSQL {number} roles can execute code on the server: {faults}"
    assert known.advice.startswith(f"update it to {newest} or newer;")


@pytest.mark.parametrize("version", [160_016, 170_012, 180_007, 180_012, 190_000])
def test_of_others_none_are_known(version):
    assert known_faults(version) is None
