"""A followed proxy's events: all of its versions in lists and views, and what a fork removes."""

from scan.extensions.events.tests.coffers import Coffers, fill, following


def test_lists_and_views_have_all_versions_of_a_proxy_and_cursors_notice_a_deep_fork(world):
    anvil, url, client = world.anvil, world.url, world.client
    coffers = Coffers(anvil)
    for amount in range(1, 4):
        coffers.deposit(amount)
    coffers.upgrade()
    for amount in range(10, 30):
        coffers.deposit(amount)
    path = f"/api/v1/contracts/{coffers.proxy}/events/Deposited"
    world.read()
    coffers.build(url)
    connection, followed = following(url, anvil.url)
    with connection:
        followed.add(bytes.fromhex(coffers.proxy[2:]), "coffer")
        followed.make_views()
        fill(followed)
    listed = client.get(f"{path}?orderBy=asc&limit=100").json["events"]
    of_first = [{"amount": str(n)} for n in range(1, 4)]
    of_second = [{"amount": str(n), "fee": str(n // 10)} for n in range(10, 30)]
    owner = {"owner": coffers.owner.lower()}
    assert [one["args"] for one in listed] == [owner | of for of in of_first + of_second]
    assert len({one["signature"] for one in listed}) == 2
    first = client.get(f"{path}?limit=5").json
    old = client.get(f"{path}?limit=5&cursor={first['next']}")
    assert [one["args"]["amount"] for one in old.json["events"]] == "24 23 22 21 20".split()
    kept = anvil.head() - 12
    anvil.reorganise(12)
    for amount in range(40, 53):
        coffers.deposit(amount)
    world.read()
    forked = client.get(f"{path}?limit=5&cursor={first['next']}")
    assert (forked.status_code, forked.json["code"]) == (409, "reorganised")
    assert forked.json["commonBlock"]["number"] == kept
    walked, cursor = [], ""
    while cursor is not None:
        page = client.get(f"{path}?limit=5{cursor}").json
        walked += [int(one["args"]["amount"]) for one in page["events"]]
        cursor = page["next"] and f"&cursor={page['next']}"
    assert walked[:13] == [*range(52, 39, -1)] and walked[-3:] == [3, 2, 1]
    view = "SELECT amount::integer FROM events.coffer_deposited ORDER BY block_number DESC"
    assert world.sql(view) == [(amount,) for amount in walked]
