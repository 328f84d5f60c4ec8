"""Folders and web servers with files: lists, digests, interrupted downloads, and hosts at fault."""

import hashlib

import pytest

from scan.extensions.backfill import e2store, file_sources, history_source
from scan.extensions.backfill.tests.history_files.file_server import FileServer

NAMES = ("net-00000-aaaaaaaa.era1", "net-00001-bbbbbbbb-noproofs.ere", "net-00002-cccccccc.erae")
CONTENT = bytes(range(256)) * 4_000


def digest_of(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for number, name in enumerate(NAMES):
        (folder / name).write_bytes(CONTENT + bytes([number]))
    (folder / "readme.txt").write_text("no such file")
    return folder


@pytest.fixture
def server(folder):
    with FileServer(folder) as server:
        yield server


@pytest.fixture
def store(tmp_path):
    return file_sources.FileStore(tmp_path / "downloads")


def write_checksums(folder, *, named=True, wrong=""):
    lines = []
    for name in NAMES:
        digest = digest_of(b"" if name == wrong else (folder / name).read_bytes())
        lines.append(f"{digest}  {name}" if named else digest)
    (folder / "checksums.txt").write_text("\n".join(lines))


def require_listed(files, digests):
    assert [file.name.text for file in files] == list(NAMES)
    assert [file.name.era for file in files] == [0, 1, 2]
    assert [file.digest for file in files] == digests


def test_files_are_listed_with_their_digests_by_name(folder, server):
    write_checksums(folder)
    digests = [digest_of((folder / name).read_bytes()) for name in NAMES]
    require_listed(file_sources.list_files(server.url), digests)
    require_listed(file_sources.list_files(str(folder)), digests)


def test_digests_without_names_are_those_of_an_url_s_files_in_order(folder, server):
    write_checksums(folder, named=False)
    digests = [digest_of((folder / name).read_bytes()) for name in NAMES]
    require_listed(file_sources.list_files(server.url), digests)
    require_listed(file_sources.list_files(str(folder)), ["", "", ""])


def test_files_are_listed_without_a_list_of_digests(folder, server):
    require_listed(file_sources.list_files(server.url), ["", "", ""])
    require_listed(file_sources.list_files(str(folder)), ["", "", ""])


def test_a_file_is_downloaded_once_and_deleted_after_use(folder, server, store):
    write_checksums(folder)
    [file, *_] = file_sources.list_files(server.url)
    path = store.fetch(file)
    assert store.fetch(file) == path
    assert path.read_bytes() == (folder / NAMES[0]).read_bytes()
    assert server.requests.count((NAMES[0], "")) == 1
    assert store.size(file) == len(CONTENT) + 1
    store.remove(file)
    assert not path.exists()
    own = file_sources.HistoryFile(str(folder), file.name)
    store.remove(own)
    assert store.fetch(own).exists()  # files of the operator's own folder stay


def cut(_, answer):
    status, headers, body = answer
    return status, {**headers, "Content-Length": str(len(body))}, body[: len(body) // 2]


def test_an_interrupted_download_goes_on(folder, server, store):
    write_checksums(folder)
    [file, *_] = file_sources.list_files(server.url)
    server.fault = cut
    with pytest.raises(file_sources.SourceFailed):
        store.fetch(file)
    server.fault = None
    assert store.fetch(file).read_bytes() == (folder / NAMES[0]).read_bytes()
    name, range_ = server.requests[-1]
    assert name == NAMES[0]
    assert int(range_.removeprefix("bytes=").removesuffix("-")) > len(CONTENT) // 3


def test_a_host_without_ranges_is_read_from_the_beginning(folder, server, store):
    [file, *_] = file_sources.list_files(server.url)
    server.fault = cut
    with pytest.raises(file_sources.SourceFailed):
        store.fetch(file)
    server.fault = lambda name, _: server.answer(name, "")
    assert store.fetch(file).read_bytes() == (folder / NAMES[0]).read_bytes()


@pytest.mark.parametrize("is_url", [True, False])
def test_a_file_with_another_digest_is_refused(folder, server, store, is_url):
    write_checksums(folder, wrong=NAMES[0])
    [file, *_] = file_sources.list_files(server.url if is_url else str(folder))
    with pytest.raises(e2store.BadFile, match="SHA-256 is not the one"):
        store.fetch(file)
    store.refuse(file, "its SHA-256")
    with pytest.raises(e2store.BadFile, match="its SHA-256"):
        store.fetch(file)
    store.forget_refusals()
    write_checksums(folder)
    [file, *_] = file_sources.list_files(server.url if is_url else str(folder))
    assert store.fetch(file).read_bytes() == (folder / NAMES[0]).read_bytes()


def answers(status=200, body=b"", **headers):
    return status, headers, body


HOST_FAULTS = {
    "404": answers(404),
    "500": answers(500),
    "a login page": answers(403, b"<html>"),
    "to itself": answers(302, Location="/era/net-00000-aaaaaaaa.era1"),
    "to nowhere": answers(302, Location="http://127.0.0.1:9/"),
    "a cut body": answers(200, b"1", **{"Content-Length": "1000"}),
    "no HTTP": answers(200, b"", **{"Transfer-Encoding": "chunked"}),
    "another file": answers(200, CONTENT),
    "an empty file": answers(),
    "no range": answers(416),
}


@pytest.mark.parametrize("fault", HOST_FAULTS)
def test_a_host_at_fault_leaves_no_file(folder, server, store, fault, tmp_path):
    write_checksums(folder)
    [file, *_] = file_sources.list_files(server.url)
    server.fault = lambda *_: HOST_FAULTS[fault]
    with pytest.raises((e2store.BadFile, file_sources.SourceFailed)):
        store.fetch(file)
    assert not [*(tmp_path / "downloads").glob("*.e2store")]


def test_a_file_that_never_ends_is_not_written(server, tmp_path):
    store = file_sources.FileStore(tmp_path / "downloads", max_file_bytes=len(CONTENT) // 2)
    [file, *_] = file_sources.list_files(server.url)
    with pytest.raises(e2store.BadFile, match="has more than"):
        store.fetch(file)
    assert sum(path.stat().st_size for path in (tmp_path / "downloads").iterdir()) == 0


@pytest.mark.parametrize("name", ["", "checksums.txt"])
def test_a_list_that_never_ends_is_refused(server, name):
    huge = b" " * (file_sources.MAX_LIST_BYTES + 1)
    server.fault = lambda file, answer: (200, {}, huge) if file == name else answer
    with pytest.raises(e2store.BadFile, match="a list of files has more than"):
        file_sources.list_files(server.url)


def test_names_of_a_hostile_list_lead_nowhere(server):
    digest = "0" * 64
    names = ("../../net-00000-aaaaaaaa.era1", "/etc/passwd", "net-1-aaaaaaaa.era1", "net.era1")
    lines = "\n".join(f"{digest}  {name}" for name in names).encode()
    server.fault = lambda file, _: (200, {}, lines if file else b"")
    assert file_sources.list_files(server.url) == []


def named(*names):
    return [file for name in names for file in file_sources._named("x", {name: ""})]


def test_consecutive_eras_are_taken_with_all_of_their_sources():
    one, two, three = (f"net-0000{era}-aaaaaaaa.ere" for era in (1, 2, 4))
    other = "net-00001-bbbbbbbb-noproofs.ere"
    eras = history_source.consecutive(named(two, one, three, other), 8_192)
    assert [*eras] == [1, 2]
    assert [file.name.text for file in eras[1]] == [one, other]


UNUSABLE = [
    ([], "no era1 or ere file that has block 0"),
    (["net-00001-aaaaaaaa.ere"], "no era1 or ere file that has block 0"),
    (["net-00000-aaaaaaaa-noreceipts.ere"], "no receipts .profile noreceipts"),
    (["net-00000-aaaaaaaa-noproofs-noreceipts.ere"], "no receipts"),
    (["one-00000-aaaaaaaa.ere", "two-00000-aaaaaaaa.ere"], "several networks: one, two"),
]


@pytest.mark.parametrize(("names", "reason"), UNUSABLE)
def test_files_that_cannot_be_used_are_refused(names, reason):
    with pytest.raises(e2store.BadFile, match=reason):
        history_source.consecutive(named(*names), 0)


def test_a_source_that_is_no_folder_is_refused(tmp_path):
    with pytest.raises(e2store.BadFile, match="is no folder"):
        file_sources.list_files(str(tmp_path / "nothing"))
