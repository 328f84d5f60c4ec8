"""Names in the form of ENSIP-15: ours for plain ASCII, its authors' tables for all others."""

import random
import string
import sys
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import suppress

import ens_normalize
import psutil
import pytest

from scan.errors import Unavailable
from scan.extensions.names import normalization
from tests.support import WAIT_S

pytestmark = pytest.mark.check

# Normalised forms, None of what has none: by the text of ENSIP-15 and its examples.
CASES = {
    "nick.eth": "nick.eth",
    "NICK.eth": "nick.eth",
    "__a.eth": "__a.eth",
    "xn--a.eth": None,
    "a_b.eth": None,
    "a..eth": None,
    "a b.eth": None,
    "a\n": None,
    "a'b.eth": "a\u2019b.eth",  # mapped to the apostrophe of typography
    "\uff36italik.eth": "vitalik.eth",  # of full width
    "1\ufe0f\u20e3.eth": "1\u20e3.eth",
    "cafe\u0301.eth": "caf\u00e9.eth",
    "\u03be.eth": "\u03be.eth",
    "v\u0456talik.eth": None,  # Cyrillic among Latin
    "\u0430\u0440\u0435.eth": None,  # whole-script confusable with Latin
    "ni\u200dck.eth": None,
    "\u202enick.eth": None,
    "a\u0300\u0300\u0300\u0300\u0300.eth": None,
    "<b>.eth": None,
    "a\0b.eth": None,
    "a\ufffd.eth": None,
    "\ud800.eth": None,
}


def processes():
    """Those in which names are normalised."""
    running = (c for c in psutil.Process().children() if c.status() != psutil.STATUS_ZOMBIE)
    return {process for process in running if "normalizing_process" in str(process.cmdline())}


@pytest.fixture
def started():
    """The processes that the test has started, which end with it."""
    before = processes()
    yield lambda: processes() - before
    end(processes() - before)


def end(ended):
    for process in ended:
        process.kill()
    psutil.wait_procs(ended, timeout=WAIT_S)


@pytest.fixture(scope="module")
def normalizer():
    before = processes()
    yield normalization.Normalizer()
    end(processes() - before)


@pytest.mark.parametrize("text", [text for text in CASES if CASES[text] is None], ids=ascii)
def test_texts_without_a_form_are_refused_in_words(normalizer, text):
    with pytest.raises(normalization.NotNormalizable) as refusal:
        normalizer.normalized(text)
    assert str(refusal.value).startswith("it ") or "a part of it" in str(refusal.value)
    assert str(refusal.value).isprintable() and len(str(refusal.value)) < 200
    assert "{" not in str(refusal.value)


@pytest.mark.parametrize("text", [text for text in CASES if CASES[text] is not None], ids=ascii)
def test_names_have_the_form_of_ensip_15(normalizer, text):
    expected = CASES[text]
    assert normalizer.normalized(text) == normalizer.known(text) == expected
    assert normalizer.normalized(expected) == expected


@pytest.mark.thorough
def test_plain_names_are_what_the_tables_make_of_them():
    """Texts of ASCII: where ours has an answer, theirs has the same."""
    draw = random.Random(15)
    letters = string.ascii_letters + string.digits + "-_$." * 6
    # But for a line's end after a name, which theirs overlooks in plain ASCII.
    texts = [f"a{chr(code)}" for code in range(128) if code != ord("\n")]
    texts += ["".join(draw.choices(letters, k=draw.randint(1, 12))) for _ in range(20_000)]
    decided, undecided = 0, object()  # it takes the tables
    for text in texts:
        ours = theirs = None
        with suppress(normalization.NotNormalizable):
            ours = normalization.normalized_plain(text) or undecided
        with suppress(ens_normalize.DisallowedSequence):
            theirs = str(ens_normalize.ens_normalize(text))
        decided += isinstance(ours, str)
        assert ours in (undecided, theirs), text
    assert decided > 5_000


@pytest.mark.parametrize(
    "text", ["", "a" * (normalization.MAX_BYTES + 1), "\u00e9" * 128, "x" * 10_000]
)
def test_what_is_empty_or_long_is_refused_before_it_is_looked_at(started, text):
    normalizer = normalization.Normalizer()
    with pytest.raises(normalization.NotNormalizable):
        normalizer.normalized(text)
    assert started() == set()


@pytest.mark.thorough
def test_plain_names_start_no_process_and_lists_wait_for_none(started):
    normalizer = normalization.Normalizer()
    assert normalizer.normalized("Vitalik.eth") == "vitalik.eth"
    assert normalizer.known("caf\u00e9.eth") is None
    assert started() == set()


def test_a_process_that_ended_is_started_again(started):
    normalizer = normalization.Normalizer()
    assert normalizer.normalized("\u00e9t\u00e9.eth") == "\u00e9t\u00e9.eth"
    [process] = started()
    end([process])
    assert normalizer.normalized("no\u00ebl.eth") == "no\u00ebl.eth"
    assert len(started() - {process}) == 1


def test_a_process_that_is_late_is_ended_and_the_name_is_not_checked(started):
    normalizer = normalization.Normalizer()
    normalizer.answer_s = 0.0
    with pytest.raises(normalization.NotChecked, match="in time"):
        normalizer.normalized("\u00e9.eth")
    assert started() == set()


def test_without_the_package_names_beyond_ascii_are_not_checked(monkeypatch):
    monkeypatch.setitem(sys.modules, "ens_normalize", None)  # cannot be imported
    normalizer = normalization.Normalizer()
    assert normalizer.normalized("Vitalik.eth") == "vitalik.eth"
    with pytest.raises(normalization.NotChecked, match="ens-normalize"):
        normalizer.normalized("\u00e9.eth")


def test_one_name_is_checked_at_a_time(started):
    """A second one is refused shortly, as it would hold a thread."""
    normalizer = normalization.Normalizer()
    normalizer.answer_s = WAIT_S
    normalizer.normalized("\u00e9.eth")
    [process] = started()
    process.suspend()
    names = ("\u00ea.eth", "\u00e8.eth")
    with ThreadPoolExecutor(2) as pool:
        checks = {pool.submit(normalizer.normalized, name): name for name in names}
        [refused], [slow] = wait(checks, WAIT_S, FIRST_COMPLETED)
        assert isinstance(refused.exception(), Unavailable)
        process.resume()
        assert slow.result(WAIT_S) == checks[slow]
