"""A chain of Amsterdam in bulk."""

from collections.abc import Iterator

import pytest

from app import create_app
from scan.indexer import block_rows, coin_token
from tests.extensions.backfill.backfilling import backfill, follow
from tests.indexer.test_amsterdam import FORKS, Forked, plain
from tests.support import auditing
from tests.support.amsterdam_chain import SYSTEM, AmsterdamChain
from tests.support.anvil import Anvil
from tests.support.anvil import Node as PlainNode
from tests.support.database import Postgres, execute
from tests.support.faulty_node import FaultyNode
from tests.support.indexing import Indexing, settings_for
from tests.support.kept_answers import kept_answers
from tests.support.serving import wait_until
from tests.support.table_digest import digest
from tests.support.truth import read_truth

__all__ = ["plain"]


@pytest.fixture(
    scope="module",
    params=["auto", pytest.param("off", marks=pytest.mark.long)],
    ids=["traced", "untraced"],
)
def forked(
    request: pytest.FixtureRequest,
    plain: Anvil,
    postgres: Postgres,
    template: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Forked]:
    folder = tmp_path_factory.mktemp("answers")
    with (
        FaultyNode(plain.url) as node,
        kept_answers(node.url, folder),
        postgres.cloned(template) as url,
    ):
        node.fault = chain = AmsterdamChain(plain, FORKS[request.param])
        settings = settings_for(url, node.url, traces=request.param)
        follow(settings, len(chain.headers) - 1)
        truth = read_truth(PlainNode(node.url), traces=request.param == "auto")
        client = create_app(settings).test_client()
        yield Forked(chain, node, url, client, truth, request.param)


@pytest.mark.long
def test_bulk_and_audit_have_the_same(forked, postgres, template, tmp_path):
    settings = settings_for(forked.url, forked.node.url, traces=forked.traces)
    assert auditing.run(settings, node=True) == 0
    with postgres.cloned(template) as url:
        settings = settings_for(url, forked.node.url, traces=forked.traces)
        head = len(forked.chain.headers) - 1
        assert backfill(settings, tmp_path / "files", last_block=head - 2)
        follow(settings, head)
        assert digest(url) == digest(forked.url)


def test_an_index_that_took_logs_of_coin_for_a_token_is_healed(
    forked, postgres, template, monkeypatch, caplog
):
    head = len(forked.chain.headers) - 1
    with postgres.cloned(template) as url:
        with monkeypatch.context() as patched:
            patched.setattr(block_rows, "contract_logs", lambda block: block.logs)
            Indexing(url, forked.node.url, traces=forked.traces).run_until(head)
        assert execute(
            url, "SELECT symbol FROM tokens WHERE address = %s", bytes.fromhex(SYSTEM[2:])
        ) == [("",)]
        monkeypatch.setattr(coin_token, "STEP_BLOCKS", 7)
        settings = settings_for(url, forked.node.url, traces=forked.traces)
        with Indexing(url, forked.node.url, traces=forked.traces):
            wait_until(lambda: "indexing block" in caplog.text)
        follow(settings, head)
        assert auditing.run(settings) == 0
        assert digest(url) == digest(forked.url)
    assert "transfers of coin were taken for a token's: indexing block" in caplog.text
