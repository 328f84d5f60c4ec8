"""The environment: what is taken, and what stops the start by name and value."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import create_app
from scan.environment import variables
from scan.errors import SettingError
from scan.settings import Settings, declarations
from tests.support import forked_python
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

POOL = "0x" + "ab" * 20
SEVERAL_HOSTS = "postgresql://h1:1,h2:2/d?target_session_attrs=read-write"


@pytest.mark.parametrize("environ", [{}, {"PORT": "", "RPC_URL": "  ", "SCAN_DATA_DIR": ""}])
def test_nothing_given_means_the_defaults(environ):
    settings = Settings.from_environment(environ)
    assert (settings.host, settings.port, settings.data_dir) == (
        "127.0.0.1",
        8000,
        Path("var").absolute(),
    )
    assert (settings.database_url, settings.rpc_urls, settings.start_block) == ("", (), None)
    assert (settings.rate_limit_anonymous, settings.rate_limit_key) == ("10/minute", "100/minute")
    assert (settings.rate_limit_storage, settings.trusted_proxies) == ("memory://", 0)
    assert (settings.traces, settings.confirmations, settings.owner_auth) == ("auto", 0, "claimed")


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("PORT", "1", "port", 1),
        ("PORT", " 65535 ", "port", 65535),
        ("HOST", "::1", "host", "::1"),
        ("SCAN_DATA_DIR", "/tmp/a b", "data_dir", Path("/tmp/a b")),
        ("SCAN_START_BLOCK", "18000000", "start_block", 18_000_000),
        ("SCAN_TRACES", "off", "traces", "off"),
        ("SCAN_LOGS", "standard", "logs", "standard"),
        ("SCAN_CONFIRMATIONS", "12", "confirmations", 12),
        ("SCAN_BULK_BACKFILL", "auto", "bulk_backfill_blocks", 100_000),
        ("SCAN_BULK_BACKFILL", "off", "bulk_backfill_blocks", None),
        ("SCAN_PARTITION_ROWS", "1000", "partition_rows", 1000),
        ("SCAN_BULK_BACKFILL", "20", "bulk_backfill_blocks", 20),
        ("SCAN_KEEP_DAYS", "0", "keep", None),
        ("SCAN_KEEP_DAYS", "2", "keep", (None, 172_800)),
        ("SCAN_KEEP_DAYS", "5000 blocks", "keep", (5000, None)),
        ("SCAN_BASE_PATH", "/bsc/", "base_path", "/bsc"),
        ("SCAN_BASE_PATH", "/chains/bsc", "base_path", "/chains/bsc"),
        ("SCAN_OWNER_AUTH", "never", "owner_auth", "never"),
        ("SCAN_LOG_FORMAT", "json+requests", "logs_requests", True),
        ("SCAN_LOG_FORMAT", "json", "logs_requests", False),
        ("SCAN_SEND_TRANSACTIONS", "on", "sends_transactions", True),
        ("SCAN_TRUSTED_PROXIES", "2", "trusted_proxies", 2),
        ("SCAN_RATE_LIMIT_KEY", "1000 per 2 hours", "rate_limit_key", "1000 per 2 hours"),
        ("SCAN_RATE_LIMIT_STORAGE", "redis://h:6379", "rate_limit_storage", "redis://h:6379"),
        (
            "RPC_URL",
            "http://a:8545, https://b/k?x=1",
            "rpc_urls",
            ("http://a:8545", "https://b/k?x=1"),
        ),
        ("RPC_URL", "http://[::1]:8545", "rpc_urls", ("http://[::1]:8545",)),
        ("RPC_URL", "/run/geth.ipc,http://a", "rpc_urls", ("/run/geth.ipc", "http://a")),
        ("DATABASE_URL", "postgres://u:p@h:5432/d", "database_url", "postgres://u:p@h:5432/d"),
        ("DATABASE_URL", SEVERAL_HOSTS, "database_url", SEVERAL_HOSTS),
        ("READ_DATABASE_URL", "postgresql://a,b/d", "read_database_url", "postgresql://a,b/d"),
        ("DATABASE_URL", "postgresql:///d?host=/run", "database_url", "postgresql:///d?host=/run"),
    ],
)
def test_what_is_taken(name, text, field, value):
    assert getattr(Settings.from_environment({name: text}), field) == value


def test_reads_go_where_writes_go_unless_told_otherwise():
    environ = {"DATABASE_URL": "postgresql://a/d"}
    assert Settings.from_environment(environ).read_database_url == "postgresql://a/d"
    environ["READ_DATABASE_URL"] = "postgresql://b/d"
    assert Settings.from_environment(environ).read_database_url == "postgresql://b/d"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("PORT", text) for text in ("0", "65536", "-1", "+1", "80.0", "1e3", "0x50", "http")),
        *(("PORT", text) for text in ("\uff18\uff10", "8 0", "9" * 400)),
        ("SCAN_START_BLOCK", "latest"),
        ("SCAN_START_BLOCK", "-1"),
        ("SCAN_CONFIRMATIONS", "1.5"),
        *(("SCAN_BULK_BACKFILL", text) for text in ("on", "0", "-1", "AUTO", "9" * 400)),
        *(("SCAN_PARTITION_ROWS", text) for text in ("999", "-1", "1e8", "off", "9" * 400)),
        ("SCAN_TRUSTED_PROXIES", "yes"),
        ("SCAN_TRACES", "on"),
        ("SCAN_UNMATCHED_BLOCKS", "take"),  # removed: what it did was dangerous
        ("SCAN_LOGS", "ALL"),
        ("SCAN_LOG_FORMAT", "requests"),
        ("SCAN_OWNER_AUTH", "Always"),
        *(
            ("SCAN_BASE_PATH", text)
            for text in (
                *("bsc", "//bsc", '/"', "https://h/bsc", "/api", "/api/", "/tx/bsc", "/chains"),
                *("/../bsc", "/."),
            )
        ),
        *(
            ("SCAN_RATE_LIMIT_ANONYMOUS", text)
            for text in ("10", "0/minute", "ten/minute", "10/eon")
        ),
        ("SCAN_RATE_LIMIT_KEY", "10/minute; 5/second"),
        ("SCAN_RATE_LIMIT_STORAGE", "memory"),
        ("SCAN_RATE_LIMIT_WHEN_STORAGE_IS_LOST", "ignore"),
        *(
            ("RPC_URL", text)
            for text in ("node:8545", "ftp://a", "http://", "http://a,", "http://[::1")
        ),
        *(("RPC_URL", text) for text in ("http://a:0", "http://a:65536", "http://a:port")),
        *(("DATABASE_URL", text) for text in ("mysql://a/d", "a", "postgresql://h:port/d")),
        ("DATABASE_URL", "postgresql://h1:1,h2:2/d"),
        ("DATABASE_URL", "postgresql://u@h1,h2/d?target_session_attrs=any"),
        ("DATABASE_URL", f"{SEVERAL_HOSTS}&target_session_attrs=prefer-standby"),
        ("DATABASE_URL", "postgresql:///d?host=/a,/b"),
        ("DATABASE_URL", "postgresql://h/d?hostaddr=127.0.0.1,127.0.0.2"),
        ("DATABASE_URL", "host=h1,h2 dbname=d target_session_attrs=read-write"),
        ("READ_DATABASE_URL", "sqlite:///x"),
        ("SCAN_WEBHOOK_ALLOW_NETWORKS", "10.0.0.1/8"),
        ("SCAN_WEBHOOK_ALLOW_NETWORKS", "localhost"),
        *(
            ("SCAN_NFT_MEDIA", text)
            for text in (
                "yes",
                "http://ipfs.example",
                "ipfs.example",
                "https://u@a",
                "https://a/?x=1",
            )
        ),
        *(
            ("SCAN_PRICES", text)
            for text in (
                "/no/such/file",
                "http://a/p.json",
                "https://u@a/p",
                "file:///etc/passwd",
                POOL,
                f"{POOL}/{POOL}/",
                f"{POOL}/0x12",
            )
        ),
        ("REQUESTS_CA_BUNDLE", "/no/such/file"),
        ("SCAN_BRAND", "/no/such/file"),
        *(("SCAN_KEEP_DAYS", text) for text in ("-1", "30 days", "5 000 blocks", "x blocks")),
    ],
)
def test_what_is_refused_is_named_with_its_value(name, text):
    with pytest.raises(SettingError) as caught:
        Settings.from_environment({name: text})
    assert str(caught.value).startswith(f"{name}={text!r}: ")


@pytest.mark.parametrize("name", ["DATABASE_URL", "READ_DATABASE_URL"])
@pytest.mark.parametrize(
    "url",
    [
        "postgresql://user:secret@host:port/d",
        "postgresql://host:port/d?user=user&password=secret",
        "host=h,h2 user=user password='secret' dbname=d",
    ],
)
def test_a_password_is_not_told(name, url):
    with pytest.raises(SettingError) as caught:
        Settings.from_environment({name: url})
    assert "secret" not in str(caught.value) and "user" in str(caught.value)


@pytest.mark.parametrize("command", ["run", "serve", "index", "migrate"])
def test_a_malformed_setting_stops_every_command(tmp_path, command):
    ended = scan(command, tmp_path, PORT="http")
    assert ended.returncode == 2
    assert ended.stderr == "scan: PORT='http': must be a whole number from 1 to 65535\n"


@pytest.mark.parametrize("command", ["serve", "index", "migrate"])
def test_commands_that_need_a_database_say_so(tmp_path, command):
    ended = scan(command, tmp_path)
    assert ended.returncode == 2 and ended.stderr.startswith("scan: DATABASE_URL=''")


def test_a_data_folder_that_cannot_be_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    ended = scan("run", tmp_path / "file", HOST="127.0.0.1")
    assert ended.returncode == 2 and ended.stderr.startswith("scan: SCAN_DATA_DIR=")


def test_a_host_that_is_not_ours_is_named(tmp_path):
    ended = scan("run", tmp_path, HOST="203.0.113.7")
    assert ended.returncode == 2 and ended.stderr.startswith("scan: HOST='203.0.113.7'")


def scan(command: str, data_dir: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    kept = {key: os.environ[key] for key in ("PATH", "HOME") if key in os.environ}
    environment = kept | {"SCAN_DATA_DIR": str(data_dir)} | environ
    return forked_python.run([sys.executable, "-m", "scan", command], env=environment, cwd=ROOT)


def test_a_variable_of_an_earlier_release_is_named_with_what_replaced_it(tmp_path):
    ended = scan("migrate", tmp_path, SCAN_BRAND_NAME="Acme", SCAN_METRICS_PORT="9101")
    for text in (
        "SCAN_BRAND_NAME is no longer read: its value is a key of the file that SCAN_BRAND names",
        "SCAN_METRICS_PORT is no longer read: scan index and scan deliver have --metrics-port",
    ):
        assert text in ended.stderr


def test_a_variable_of_an_extension_that_is_off_is_named(tmp_path):
    environ = os.environ | {"SCAN_BRAND": "acme.toml", "SCAN_EXTENSIONS": "none"}
    command = [sys.executable, "-m", "scan", "migrate"]
    ended = subprocess.run(
        command, env=environ | {"SCAN_DATA_DIR": str(tmp_path)}, capture_output=True, text=True
    )
    assert "SCAN_BRAND is of the extension brand, which is off" in ended.stderr


def test_settings_are_few():
    names = [v.name for declared in declarations() for _, v in variables(declared)]
    assert len(names) <= 40 and len(names) == len(set(names))


def test_no_base_path_is_a_path_of_the_applications_own():
    """`/api` in front would be removed from /api/v1, `/chains` lead to Sourcify's list."""
    environ = {"DATABASE_URL": "postgresql://h/d", "RPC_URL": "http://127.0.0.1:1"}
    app = create_app(Settings.from_environment(environ))
    rules = [
        rule.rule
        for rule in app.url_map.iter_rules()
        # URLs of other explorers, which nobody misses below a base path.
        if not rule.endpoint.startswith("pages_redirects.")
    ]
    paths = {rule.split("<")[0].strip("/") for rule in rules} - {""}
    for path in paths:
        first, *more = path.split("/")
        for base_path in (f"/{first}", *((f"/{first}/bsc",) if more else ())):
            with pytest.raises(SettingError, match="SCAN_BASE_PATH"):
                Settings.from_environment({"SCAN_BASE_PATH": base_path})
