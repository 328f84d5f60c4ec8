"""The page of events of all contracts."""

from flask.testing import FlaskClient

from tests.conftest import Played


def test_a_block_leads_to_its_events_and_these_to_their_transactions(
    client: FlaskClient, scenario: Played
) -> None:
    [number, *_] = [row["blockNumber"] for row in scenario.truth.logs]
    own = [row for row in scenario.truth.logs if row["blockNumber"] == number]
    page = client.get(f"/block/{number}").text
    assert f'href="/events?blockFrom={number}&amp;blockTo={number}"' in page
    page = client.get(f"/events?blockFrom={number}&blockTo={number}&limit=100").text
    for row in own:
        sent, index = row["transactionHash"], row["logIndex"]
        assert f'id="log-{number}-{index}"' in page
        assert f'href="/tx/{sent}?tab=events#event-{index}"' in page
        assert f'id="event-{index}"' in client.get(f"/tx/{sent}?tab=events").text
        assert f'href="/address/{row["address"]}"' in page
    assert page.count('<article class="event"') == len(own)
