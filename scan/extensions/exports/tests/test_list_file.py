"""A list's file is of one moment, whatever is indexed while it is written."""

import orjson

from app import create_app
from scan.extensions.exports.list_files import Format, write_list
from scan.queries import blocks
from scan.queries.pages import Window
from scan.queries.reader import Reader
from tests.support.indexing import Indexing


def test_blocks_and_forks_meanwhile_are_not_in_it(database_url, anvil, tmp_path, monkeypatch):
    monkeypatch.setattr("scan.extensions.exports.list_files.PAGE_ROWS", 3)
    for _ in range(11):
        anvil.mine()
    with Indexing(database_url, anvil.url, until=anvil.head()) as indexing:
        reader = Reader(create_app(indexing.settings).extensions["scan"].sources, "client")
        pages = []

        def read(window):
            pages.append(blocks.page(reader, window))
            if len(pages) == 2:
                anvil.reorganise(4)
                anvil.mine()
                indexing.wait_for(anvil.head())
            return pages[-1]

        before = blocks.page(reader, Window(100, 0)).data
        window = Window(100, 0)
        written = write_list(reader, "blocks", read, None, Format.NDJSON, window, tmp_path)
        assert blocks.page(reader, Window(100, 0)).data != before
    assert len(pages) == 4
    assert [orjson.loads(line) for line in written.file] == orjson.loads(before)
    assert written.last.next is None
