"""What a browser loads for a page that it has not seen, where no proxy compresses it."""

import gzip

from scan.pages.site import FOLDER, url_of


def test_styles_and_scripts_are_compressed_for_whom_takes_that(client):
    plain = (FOLDER / "scan.css").read_bytes()
    for accepted, encoding in (
        ("gzip, deflate, br", "gzip"),
        ("identity", None),
        ("gzip;q=0, *", None),
        ("\xff;;q=x,gzip", "gzip"),
        ("gzip," * 200, "gzip"),
        ("gzip," * 201, None),  # parsing 64 kB of it would hold the worker's loop
        (None, None),
    ):
        headers = {"Accept-Encoding": accepted} if accepted else {}
        answer = client.get(url_of("scan.css"), headers=headers)
        assert answer.headers.get("Content-Encoding") == encoding, accepted
        assert answer.headers["Vary"] == "Accept-Encoding"
        assert (gzip.decompress(answer.data) if encoding else answer.data) == plain
    as_browsers = {"Accept-Encoding": "gzip, deflate, br, zstd"}
    assert len(client.get(url_of("scan.css"), headers=as_browsers).data) < len(plain) / 3
