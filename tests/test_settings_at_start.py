"""What commands say at the start of settings that are wrong, missing or unknown."""

import socket

import pytest

from tests.support import scan_command
from tests.support.serving import ROOT

pytestmark = pytest.mark.check


def scan(command, data_dir, **environ):
    return scan_command.scan(*command.split(), **{"SCAN_DATA_DIR": str(data_dir)} | environ)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (",", "a name is empty"),
        ("none,", "none stands alone"),
        ("all,all", "all stands alone"),
        ("qqqqqq", "no extension is called qqqqqq; there are "),
    ],
)
def test_extensions_that_cannot_be_are_named_in_a_sentence(text, reason):
    ended = scan_command.started("scan", "--version", environ={"SCAN_EXTENSIONS": text})
    right = "all, none, or names of extensions, separated by commas"
    assert ended.stderr.startswith(f"scan: SCAN_EXTENSIONS={text!r}: must be {right}: {reason}")
    assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", ["run", "serve", "index", "deliver", "migrate", "audit"])
def test_a_malformed_setting_stops_every_command(tmp_path, command):
    ended = scan(command, tmp_path, PORT="http")
    assert ended.returncode == 2
    assert ended.stderr == "scan: PORT='http': must be a whole number from 1 to 65535\n"


@pytest.mark.thorough
def test_gunicorn_without_scan_serve_names_wrong_settings_too(tmp_path):
    for name, text in (("PORT", "http"), ("SCAN_EXTENSIONS", ",")):
        command = ("gunicorn", "--config", ROOT / "gunicorn.conf.py", "app:create_app()")
        ended = scan_command.started(*command, environ={name: text})
        assert (ended.returncode, ended.stderr.count("\n")) == (1, 1)
        assert ended.stderr.startswith(f"{name}={text!r}: must be ")


@pytest.mark.parametrize("parameter", ["foo=1", "password=s3cret%zz"])
@pytest.mark.parametrize("command", ["run", "serve", "index", "deliver", "migrate"])
def test_a_url_that_libpq_does_not_take_is_no_outage(tmp_path, command, parameter):
    """Nor is its password shown, which libpq would do."""
    environ = {"DATABASE_URL": f"postgresql://127.0.0.1:1/d?{parameter}", "RPC_URL": "http://a"}
    ended = scan(command, tmp_path, **environ)
    assert ended.returncode == 2 and "s3cret" not in ended.stderr
    assert ended.stderr.startswith("scan: DATABASE_URL='postgresql://127.0.0.1:1/d?")


@pytest.mark.parametrize("command", ["serve", "index", "migrate"])
def test_commands_that_need_a_database_say_so(tmp_path, command):
    ended = scan(command, tmp_path)
    assert ended.returncode == 2 and ended.stderr.startswith("scan: DATABASE_URL=''")


def test_a_data_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    ended = scan("run", tmp_path / "file", HOST="127.0.0.1")
    assert ended.returncode == 2 and ended.stderr.startswith("scan: SCAN_DATA_DIR=")


SOMEWHERE = {"DATABASE_URL": "postgresql://127.0.0.1:1/d", "RPC_URL": "http://127.0.0.1:1"}


@pytest.mark.parametrize(
    "command", ("run", "serve", "index --metrics-port 9101", "deliver --metrics-port 9101")
)
@pytest.mark.parametrize("host", ["203.0.113.7", "host.invalid"])
def test_a_host_that_is_not_ours_is_named(tmp_path, command, host):
    ended = scan(command, tmp_path, HOST=host, **SOMEWHERE)
    right = "an address of this machine, or 0.0.0.0 or :: for all of them"
    assert ended.stderr.startswith(f"scan: HOST={host!r}: must be {right}: ")
    assert ended.returncode == 2 and len(ended.stderr.splitlines()) == 1


@pytest.mark.thorough
def test_a_port_that_another_program_has_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = str(listener.getsockname()[1])
        for name, command in (
            ("PORT", "serve"),
            ("--metrics-port", f"index --metrics-port {port}"),
        ):
            ended = scan(command, tmp_path, PORT=port, **SOMEWHERE)
            assert ended.stderr.startswith(f"scan: {name}={port!r}: must be a free port: ")
            assert ended.returncode == 2


def test_an_unknown_variable_is_named_with_the_nearest_one(tmp_path):
    ended = scan("migrate", tmp_path, SCAN_RATE_LIMIT_ANONYMUS="1/day", SCAN_QQQQ="1", SCAN_NO="")
    for text in (
        "SCAN_RATE_LIMIT_ANONYMUS is not a setting; did you mean SCAN_RATE_LIMIT_ANONYMOUS?\n",
        "SCAN_QQQQ is not a setting\n",
    ):
        assert text in ended.stderr
    assert "SCAN_NO" not in ended.stderr and "SCAN_DATA_DIR" not in ended.stderr
