"""Paths in the settings of children: of the core, scan.extensions.backfill, scan.extensions.brand
and scan.extensions.markets."""

import shlex
import shutil

import certifi
import pytest

from scan.settings import Settings, child_environment

pytestmark = pytest.mark.check


def test_children_get_absolute_paths(tmp_path, monkeypatch):
    """They run in another folder, and their settings are the same."""
    folder = tmp_path / "a b"
    (folder / "history").mkdir(parents=True)
    for name in ("acme.toml", "prices.json"):
        (folder / name).write_text('name = "Acme"')
    shutil.copy(certifi.where(), folder / "ca.pem")
    given = {
        "DATABASE_URL": "postgresql://h/d?sslmode=verify-full&sslrootcert=ca.pem",
        "READ_DATABASE_URL": "postgresql://h/d?sslrootcert=system",
        "REQUESTS_CA_BUNDLE": "ca.pem",
        "SCAN_BRAND": "acme.toml",
        "SCAN_DATA_DIR": "data",
        "SCAN_HISTORY": "history https://h/era?a=1&b=2",
        "SCAN_PRICES": "./prices.json",
        "SCAN_RATE_LIMIT_STORAGE": "rediss://h:1?ssl_ca_certs=ca.pem",
        "SCAN_SOLC_DIR": "solc",
    }
    for name, text in given.items():
        monkeypatch.setenv(name, text)
    monkeypatch.chdir(folder)
    settings = Settings.from_environment()
    environment = child_environment(settings)
    monkeypatch.chdir("/")
    assert Settings.from_environment(environment) == settings
    assert settings.brand.name == "Acme" and settings.solc_dir == folder / "solc"
    assert environment["READ_DATABASE_URL"] == given["READ_DATABASE_URL"]
    assert environment["DATABASE_URL"].endswith(f"sslrootcert={tmp_path}/a%20b/ca.pem")
    history = environment["SCAN_HISTORY"]
    assert shlex.split(history) == [f"{folder}/history", "https://h/era?a=1&b=2"]
