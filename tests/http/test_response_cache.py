"""Which answers are kept, how many, and for how long."""

import time
from typing import cast

import pytest

from scan.database.connection import Announcements, Database, News
from scan.http import response_cache
from scan.http.response_cache import Answer, Asked, KeptAnswers

FIRST, SECOND = News(1, 1, 0), News(1, 2, 0)


class Told:
    """Stands for Announcements, at moments that real ones pass through too fast."""

    def __init__(self) -> None:
        self.news: News | None = FIRST

    def newest(self) -> News | None:
        return self.news

    def hear(self, number: str) -> None:
        assert number == "1"


class First:
    """Stands for a database at its first version."""

    def prepared_value(self, statement: str) -> str:
        assert statement == "http/chain_get_version"
        return "1"


def keeping(told: Told) -> KeptAnswers:
    kept = KeptAnswers(cast(Database, First()), cast(Announcements, told))
    kept.catch_up()
    return kept


def answer(text: bytes) -> Answer:
    return Answer(text, "GET", "/")


def test_an_answer_lasts_until_the_next_announcement() -> None:
    told = Told()
    kept = keeping(told)
    kept.keep(FIRST, Asked("/a"), answer(b"old"))
    assert kept.find(Asked("/a")) == answer(b"old")
    for news in (SECOND, None, News(2, 1, 0)):
        told.news = news
        assert kept.find(Asked("/a")) is None


def test_where_nothing_is_heard_the_database_is_asked_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(response_cache, "UNCHECKED_S", 0.05)
    kept = keeping(Told())
    kept.keep(FIRST, Asked("/a"), answer(b"old"))
    time.sleep(0.1)
    assert kept.find(Asked("/a")) is None
    kept.catch_up()
    assert kept.find(Asked("/a")) == answer(b"old")


def test_an_answer_that_was_long_in_coming_takes_no_place() -> None:
    told = Told()
    kept = keeping(told)
    told.news = SECOND
    kept.keep(SECOND, Asked("/a"), answer(b"new"))
    kept.keep(FIRST, Asked("/b"), answer(b"old"))
    assert kept.find(Asked("/a")) == answer(b"new")
    assert kept.find(Asked("/b")) is None


def test_all_that_a_question_holds_counts_as_kept() -> None:
    """A client chooses the path, the query, the type of the body and the body."""
    kept = keeping(Told())
    long = 1024 * 1024
    for number in range(40):
        asked = [
            Asked(f"/{number}".ljust(long)),
            Asked("/", f"{number}".ljust(long)),
            Asked("/", "", f"{number}".ljust(long)),
            Asked("/", "", "", f"{number}".encode().ljust(long)),
        ]
        for one in asked:
            kept.keep(FIRST, one, answer(b""))
        assert kept.find(asked[-1]) is not None
        _, found = kept._kept
        held = sum(sum(map(len, one)) for one in found)
        assert held <= response_cache.MOST_KEPT_BYTES


def test_numbers_grow_and_all_else_counts(database_url: str) -> None:
    """A number may be known before it is announced; a label's transaction ends out of turn."""
    heard = Announcements(
        Database(database_url, statement_timeout_ms=5000), "http/chain_get_version"
    )
    [connected, *later] = [heard.listen()]
    for payload in ("8", "7", "8", "labels 9", "labels 8"):
        heard.hear(payload)
        later.append(heard.newest())
    assert [(n.highest, n.others) for n in later if n] == [(8, 0)] * 3 + [(8, 1), (8, 2)]
    assert connected is not None and connected.highest == -1
