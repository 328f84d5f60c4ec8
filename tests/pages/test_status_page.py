"""/status, the state of the index for people, to which every page leads."""

from flask.testing import FlaskClient

from app import create_app
from tests.support.database import Postgres, execute
from tests.support.indexing import settings_for
from tests.support.serving import NOWHERE


def test_every_page_leads_to_the_state_of_the_index(client: FlaskClient) -> None:
    state = client.get("/readyz").json
    page = client.get("/status").text
    assert f'href="/block/{state["indexedBlock"]}"' in page
    said = "up to date with the node" if state["checkedAt"] else "has not reported yet"
    assert f"{said}." in page
    assert f"<dd>{state['chainId']}</dd>" in page and f"<dd>{state['version']}</dd>" in page
    assert '<a class="json" href="/readyz">' in page
    for path in ("/", "/txs", "/nothing", "/status"):
        shown = client.get(path, headers={"Accept": "text/html"}).text
        assert '<a href="/status">Status</a>' in shown, path


def test_the_page_names_what_is_wrong(postgres: Postgres, indexed_template: str) -> None:
    with postgres.cloned(indexed_template) as url:  # where no indexer writes its own status
        execute(
            url,
            "INSERT INTO indexer_status (problem, checked_at) VALUES ('no <b>node', now())"
            " ON CONFLICT (only_row) DO UPDATE SET problem = excluded.problem",
        )
        page = create_app(settings_for(url, NOWHERE)).test_client().get("/status").text
    assert '<p class="problem">no &lt;b&gt;node</p>' in page
