"""The environment: what is taken, and what stops the start by name and value."""

from pathlib import Path

import pytest

from app import create_app
from scan.errors import SettingError
from scan.setting_kinds import variables
from scan.settings import Settings, declarations, unread_variables, wallet_private_key
from tests.support.serving import ROOT

pytestmark = pytest.mark.check

POOL = "0x" + "ab" * 20
SEVERAL_HOSTS = "postgresql://h1:1,h2:2/d?target_session_attrs=read-write"


def test_what_is_empty_means_the_default():
    environ = {"PORT": "", "RPC_URL": "  ", "SCAN_DATA_DIR": "", "SCAN_START_BLOCK": ""}
    assert Settings.from_environment(environ) == Settings.from_environment({})


@pytest.mark.parametrize(
    ("name", "text", "field", "value"),
    [
        ("HOST", "::1", "host", "::1"),
        ("SCAN_DATA_DIR", "/tmp/a b", "data_dir", Path("/tmp/a b")),
        ("SCAN_START_BLOCK", "18000000", "start_block", 18_000_000),
        ("SCAN_BULK_BACKFILL", "auto", "bulk_backfill_blocks", 100_000),
        ("SCAN_BULK_BACKFILL", "off", "bulk_backfill_blocks", None),
        ("SCAN_KEEP_DAYS", "0", "keep", None),
        ("SCAN_BASE_PATH", "/bsc/", "base_path", "/bsc"),
        ("SCAN_BASE_PATH", "/chains/bsc", "base_path", "/chains/bsc"),
        ("SCAN_LOG_FORMAT", "json+requests", "logs_requests", True),
        ("SCAN_RATE_LIMIT_KEY", "1000 per 2 hours", "rate_limit_key", "1000 per 2 hours"),
        ("SCAN_RATE_LIMIT_STORAGE", "redis://h:6379", "rate_limit_storage", "redis://h:6379"),
        (
            "RPC_URL",
            "http://a:8545, https://b/k?x=1",
            "rpc_urls",
            ("http://a:8545", "https://b/k?x=1"),
        ),
        ("RPC_URL", "/run/geth.ipc,http://a", "rpc_urls", ("/run/geth.ipc", "http://a")),
        ("DATABASE_URL", "postgres://u:p@h:5432/d", "database_url", "postgres://u:p@h:5432/d"),
        ("DATABASE_URL", SEVERAL_HOSTS, "database_url", SEVERAL_HOSTS),
        ("DATABASE_URL", "postgresql:///d?host=/run", "database_url", "postgresql:///d?host=/run"),
    ],
)
def test_what_is_taken(name, text, field, value):
    assert getattr(Settings.from_environment({name: text}), field) == value


def test_a_value_may_stand_in_a_file(tmp_path):
    url, key = "postgresql://u:pass@h/d", "0x" + "1" * 64
    (tmp_path / "DATABASE_URL").write_text(f"{url}\n")
    (tmp_path / "key").write_text(key)
    environ = {"DATABASE_URL_FILE": str(tmp_path / "DATABASE_URL"), "DATABASE_URL": " "}
    assert Settings.from_environment(environ).database_url == url
    assert unread_variables(environ) == {}
    assert wallet_private_key({"SCAN_PRIVATE_KEY_FILE": str(tmp_path / "key")}) == key
    assert unread_variables({"SCAN_PRIVATE_KEY_FILE": "x", "SCAN_ACCESS_FILES": "x"}) == {
        "SCAN_ACCESS_FILES": "is not a setting; did you mean SCAN_ACCESS?"
    }


@pytest.mark.parametrize(
    ("environ", "reason"),
    [
        ({"DATABASE_URL_FILE": "none"}, "cannot be read"),
        ({"DATABASE_URL_FILE": "."}, "cannot be read"),
        ({"DATABASE_URL_FILE": "empty"}, "is empty"),
        ({"DATABASE_URL_FILE": "binary"}, "cannot be read"),
        (
            {"DATABASE_URL_FILE": "url", "DATABASE_URL": "postgresql://a/d"},
            "DATABASE_URL is set, too",
        ),
    ],
)
def test_a_file_that_gives_no_value_stops_the_start(tmp_path, monkeypatch, environ, reason):
    """Without the database that it should name, Scan would start another one."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_text(" \n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "url").write_text("postgresql://u:pass@h/d")
    with pytest.raises(SettingError, match=f"DATABASE_URL_FILE=.*{reason}") as caught:
        Settings.from_environment(environ)
    assert "pass@" not in str(caught.value)


def test_reads_go_where_writes_go_unless_told_otherwise():
    environ = {"DATABASE_URL": "postgresql://a/d"}
    assert Settings.from_environment(environ).read_database_url == "postgresql://a/d"
    environ["READ_DATABASE_URL"] = "postgresql://b/d"
    assert Settings.from_environment(environ).read_database_url == "postgresql://b/d"


# By the name of a kind: what no setting of it takes. A new kind has its own.
WRONG = {
    "integer": (*("-1", "+1", "1.5", "1e3", "0x50", "8 0", "\uff18\uff10", "9" * 19), "9" * 400),
    "word": ("ON", "off,on"),
    "name service": ("on", POOL, f"ens:{POOL}", "universal:0x1", f"registry:{POOL}00"),
    "text": ("x" * 51, "a\tb"),
    "origin": ("example.org", "ftp://example.org", "https://example.org/path", "https://"),
    "base path": ("bsc", "//bsc", '/"', "https://h/bsc", "/api", "/tx/bsc", "/../bsc"),
    "primary": (
        *("mysql://a/d", "a", "postgresql://h:port/d", "postgresql://h1:1,h2:2/d"),
        *("postgresql://u@h1,h2/d?target_session_attrs=any", "postgresql://a b/d"),
        *("postgresql://[::1/d", "postgresql:///d?host=/a,/b"),
        *("postgresql://h/d?hostaddr=127.0.0.1,127.0.0.2", "host=h1,h2 dbname=d"),
    ),
    "replica": ("sqlite:///x", "a", "postgresql://h:0/d", "postgresql://a b/d"),
    "nodes": (
        *("node:8545", "ftp://a", "http://", "http://a,", "http://[::1", "geth.ipc", "http://a b"),
        *("http://a:0", "http://a:65536", str(ROOT)),
    ),
    "host": ("a b", "[::1]", "127.0.0.1:8000", "http://a", "999.1.1.1", "-", "é"),
    "folder": (__file__, f"{__file__}/below"),
    "certificates": ("/no/such/file", __file__),
    "rate": ("10", "0/minute", "ten/minute", "10/eon", "10/minute; 5/second"),
    "storage": ("memory", "nonsense://", "async+redis://[::1]:1", "redis://", "redis://a b"),
    "header": ("X Forwarded", "X_User", "Host", "X-API-Key", "é", "X-User from", "X-User from x"),
    "networks": ("10.0.0.1/8", "localhost", "10.0.0.0/8,"),
    "bulk backfill": ("on", "0", "-1", "9" * 400),
    "kept blocks": ("-1", "30 days", "5 000 blocks", "x blocks"),
    "brand": ("/no/such/file", str(ROOT), __file__),
    "history": ("/no/such/folder", __file__, "ftp://h/", "https://h:0/", f"{ROOT} none", "'"),
    "folders": (__file__, "/no/such/folder/below", "a,,/no/such/folder/b", ",".join("a" * 21)),
    "media": ("yes", "http://ipfs.example", "ipfs.example", "https://u@a", "https://a/?x=1"),
    "prices": (
        *("/no/such/file", str(ROOT), "http://a/p.json", "https://u@a/p", "file:///etc/passwd"),
        *(POOL, f"{POOL}/{POOL}/", f"{POOL}/0x12"),
    ),
}
DECLARED = {v.name: v for declared in declarations() for _, v in variables(declared)}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *((v.name, text) for v in DECLARED.values() for text in WRONG[v.kind.name]),
        *(("PORT", text) for text in ("0", "65536")),
        ("SCAN_PARTITION_ROWS", "999"),
    ],
)
def test_every_setting_refuses_what_is_wrong_for_its_kind(name, text):
    """By name and value, with what would be right."""
    kind = DECLARED[name].kind
    with pytest.raises(SettingError) as caught:
        Settings.from_environment({name: text})
    assert str(caught.value).startswith(f"{name}={kind.redact(text)!r}: must be {kind.right}")


DATABASES = ("DATABASE_URL", "READ_DATABASE_URL")


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        *((name, "postgresql://user:s3cret@host:port/d", "user") for name in DATABASES),
        *(
            (name, "postgresql://host:port/d?user=user&password=s3cret", "user")
            for name in DATABASES
        ),
        *((name, "host=h,h2 user=user password='s3cret' dbname=d", "user") for name in DATABASES),
        ("DATABASE_URL", "user:s3cret@host/d", "@host"),
        ("SCAN_RATE_LIMIT_STORAGE", ":s3cret@host:6379", "@host"),
        ("READ_DATABASE_URL", "mysql://user:p@s3cret@host/d", "@host"),
    ],
)
def test_a_password_is_hidden_with_a_scheme_and_without(name, text, shown):
    with pytest.raises(SettingError, match=name) as caught:
        Settings.from_environment({name: text})
    assert "s3cret" not in str(caught.value) and shown in str(caught.value)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("htps://node.example/v3/s3cret", "htps://node.example/..."),
        ("wss://user:s3cret@node.example/", "wss://***@node.example/..."),
        ("node.example/v3/s3cret", "node.example/..."),
        ("user:s3cret@node.example:8545", "***@node.example:8545"),
        ("https://a/s3cret,b/s3cret", "https://a/...,/..."),
        ("http://a/1,http://user:s3cret/,x@b:0/s3cret", "http://***@b:0/..."),
        ("/run/geth.ipc,node:8545", "/run/geth.ipc,node:8545"),
    ],
)
def test_a_node_is_named_without_its_key(text, shown):
    with pytest.raises(SettingError) as caught:
        Settings.from_environment({"RPC_URL": text})
    assert str(caught.value).startswith(f"RPC_URL={shown!r}: ")


def test_no_base_path_is_a_path_of_the_applications_own():
    """`/api` in front would be removed from /api/v1, `/chains` lead to Sourcify's list."""
    environ = {"DATABASE_URL": "postgresql://h/d", "RPC_URL": "http://127.0.0.1:1"}
    rules = [
        rule.rule
        for rule in create_app(Settings.from_environment(environ)).url_map.iter_rules()
        # URLs of other explorers, which nobody misses below a base path.
        if not rule.endpoint.startswith("pages_redirects.")
    ]
    for path in {rule.split("<")[0].strip("/") for rule in rules} - {""}:
        first, *more = path.split("/")
        for base_path in (f"/{first}", *((f"/{first}/bsc",) if more else ())):
            with pytest.raises(SettingError, match="SCAN_BASE_PATH"):
                Settings.from_environment({"SCAN_BASE_PATH": base_path})


def test_a_header_names_people_where_a_proxy_sets_it_alone():
    environ = {"SCAN_PROXY_USER_HEADER": "X-Forwarded-User"}
    for more, words in (
        ({"SCAN_ACCESS": "keys"}, "set SCAN_TRUSTED_PROXIES"),
        ({"SCAN_TRUSTED_PROXIES": "1"}, "without SCAN_ACCESS=keys"),
    ):
        with pytest.raises(SettingError, match=words):
            Settings.from_environment(environ | more)
    given = environ | {"SCAN_ACCESS": "keys", "SCAN_TRUSTED_PROXIES": "1"}
    settings = Settings.from_environment(given)
    header = settings.proxy_user_header
    assert [header.name, *map(str, header.networks)] == [
        "X-Forwarded-User",
        "127.0.0.0/8",
        "::1/128",
    ]
    assert not settings.wallets_make_keys and Settings().wallets_make_keys
