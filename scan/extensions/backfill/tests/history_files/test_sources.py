"""Folders and web servers with files: lists, digests, interrupted downloads, and hosts at fault."""

import hashlib

import pytest

from scan.extensions.backfill import e2store, file_sources, history_source
from scan.extensions.backfill.tests.history_files.file_server import file_server

NAMES = ("net-00000-aaaaaaaa.era1", "net-00001-bbbbbbbb-noproofs.ere", "net-00002-cccccccc.erae")
CONTENTS = [bytes(range(256)) * 4_000 + bytes([number]) for number in range(len(NAMES))]
DIGESTS = [hashlib.sha256(content).hexdigest() for content in CONTENTS]


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "files"
    folder.mkdir()
    for name, content in zip(NAMES, CONTENTS, strict=True):
        (folder / name).write_bytes(content)
    (folder / "readme.txt").write_text("no such file")
    return folder


@pytest.fixture
def server(folder):
    with file_server(folder) as server:
        yield server


@pytest.fixture
def store(tmp_path):
    return file_sources.FileStore(tmp_path / "downloads")


def write_checksums(folder, digests=DIGESTS, names=NAMES):
    lines = [" ".join(line) for line in zip(digests, names, strict=True)]
    (folder / "checksums.txt").write_text("\n".join(lines))


@pytest.mark.parametrize(
    ("digests", "names", "of_url", "of_folder"),
    [
        (DIGESTS, NAMES, DIGESTS, DIGESTS),
        (DIGESTS, [""] * 3, DIGESTS, [""] * 3),  # in their order
        ([], [], [""] * 3, [""] * 3),
    ],
    ids=["by name", "without names", "no digests"],
)
def test_files_are_listed_with_their_digests(folder, server, digests, names, of_url, of_folder):
    write_checksums(folder, digests, names)
    for source, expected in ((server.url, of_url), (str(folder), of_folder)):
        files = file_sources.list_files(source)
        assert [file.name.text for file in files] == list(NAMES)
        assert [file.name.era for file in files] == [0, 1, 2]
        assert [file.digest for file in files] == expected


def test_a_file_is_downloaded_once_and_deleted_after_use(folder, server, store):
    write_checksums(folder)
    [file, *_] = file_sources.list_files(server.url)
    path = store.fetch(file)
    assert store.fetch(file) == path
    assert path.read_bytes() == CONTENTS[0]
    assert server.requests.count((NAMES[0], "")) == 1
    assert store.size(file) == len(CONTENTS[0])
    store.remove(file)
    assert not path.exists()
    own = file_sources.HistoryFile(str(folder), file.name)
    store.remove(own)
    assert store.fetch(own).exists()  # files of the operator's own folder stay


@pytest.mark.parametrize("has_ranges", [True, False])
def test_an_interrupted_download_goes_on(server, store, has_ranges):
    """Of a host without ranges from the beginning."""

    def cut(_, answer):
        status, headers, body = answer
        return status, {**headers, "Content-Length": str(len(body))}, body[: len(body) // 2]

    [file, *_] = file_sources.list_files(server.url)
    server.fault = cut
    with pytest.raises(file_sources.SourceFailed):
        store.fetch(file)
    server.fault = None if has_ranges else lambda name, _: server.answer(name, "")
    assert store.fetch(file).read_bytes() == CONTENTS[0]
    name, range_ = server.requests[-1]
    assert name == NAMES[0]
    assert int(range_.removeprefix("bytes=").removesuffix("-")) > len(CONTENTS[0]) // 3


@pytest.mark.parametrize("is_url", [True, False])
def test_a_file_with_another_digest_is_refused(folder, server, store, is_url):
    source = server.url if is_url else str(folder)
    write_checksums(folder, DIGESTS[::-1])
    [file, *_] = file_sources.list_files(source)
    with pytest.raises(e2store.BadFile, match="SHA-256 is not the one"):
        store.fetch(file)
    store.refuse(file, "its SHA-256")
    with pytest.raises(e2store.BadFile, match="its SHA-256"):
        store.fetch(file)
    store.forget_refusals()
    write_checksums(folder)
    [file, *_] = file_sources.list_files(source)
    assert store.fetch(file).read_bytes() == CONTENTS[0]


# Status, headers and body.
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param((403, {}, b"<html>"), id="a login page"),
        pytest.param((302, {"Location": "http://127.0.0.1:9/"}, b""), id="to nowhere"),
        pytest.param((200, {"Content-Length": "1000"}, b"1"), id="a cut body"),
        pytest.param((200, {"Transfer-Encoding": "chunked"}, b""), id="no HTTP"),
        pytest.param((200, {}, CONTENTS[1]), id="another file"),
        pytest.param((416, {}, b""), id="no range"),
    ],
)
def test_a_host_at_fault_leaves_no_file(folder, server, store, answer, tmp_path):
    write_checksums(folder)
    [file, *_] = file_sources.list_files(server.url)
    server.fault = lambda *_: answer
    with pytest.raises((e2store.BadFile, file_sources.SourceFailed)):
        store.fetch(file)
    assert not [*(tmp_path / "downloads").glob("*.e2store")]


def test_a_file_that_never_ends_is_not_written(server, tmp_path):
    store = file_sources.FileStore(tmp_path / "downloads", max_file_bytes=len(CONTENTS[0]) // 2)
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
    names = ("../../net-00000-aaaaaaaa.era1", "/etc/passwd", "net-1-aaaaaaaa.era1", "net.era1")
    lines = "\n".join(f"{'0' * 64}  {name}" for name in names).encode()
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


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["net-00001-aaaaaaaa.ere"], "no era1 or ere file that has block 0"),
        (["net-00000-aaaaaaaa-noproofs-noreceipts.ere"], "no receipts"),
        (["one-00000-aaaaaaaa.ere", "two-00000-aaaaaaaa.ere"], "several networks: one, two"),
    ],
)
def test_files_that_cannot_be_used_are_refused(names, reason):
    with pytest.raises(e2store.BadFile, match=reason):
        history_source.consecutive(named(*names), 0)
    with pytest.raises(e2store.BadFile, match="is no folder"):
        file_sources.list_files(names[0])
