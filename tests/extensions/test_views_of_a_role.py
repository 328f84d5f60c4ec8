"""What is said where the role of a service may not make the views of followed contracts."""

import json
import os
from contextlib import closing

import pytest

from scan import registry
from scan.database.connection import Database
from scan.extensions.events.following import Following
from scan.extensions.events.tests.coffers import ABI, address_of, coffers
from scan.extensions.operations.doctor.hooks import Checks
from tests.support.database import execute
from tests.support.indexing import Indexing

__all__ = ["coffers"]

pytestmark = pytest.mark.thorough


def test_views_that_a_role_may_not_make_are_said_and_made_later(coffers, database_url, caplog):
    anvil = coffers.anvil
    role = f"follower_{os.getpid()}"
    execute(database_url, f"CREATE ROLE {role}; GRANT ALL ON ALL TABLES IN SCHEMA public TO {role}")
    of_role = f"{database_url}&options=-crole%3D{role}"
    with (
        Indexing(database_url, anvil.url, until=anvil.head()) as index,
        closing(Database(of_role, statement_timeout_ms=0)) as database,
    ):
        followed = Following(database)
        followed.add(address_of(coffers.proxy), "coffer", json.dumps(ABI))
        for _ in range(2):
            followed.make_views()
        [contract] = followed.contracts()
        assert "permission denied for schema events" in contract.views_problem
        assert caplog.text.count("views of the events of coffer cannot be made") == 1
        path = f"/api/v1/contracts/{coffers.proxy}/events"
        response = index.client().get(path).json
        assert (response["problem"], response["events"]) == (contract.views_problem, [])
        [part] = registry.parts(Checks)
        findings = [*part.of_database(database)]
        assert [finding.level for finding in findings] == ["error", "error"]
        assert f"ON SCHEMA events TO {role}" in findings[0].advice
        execute(database_url, f"GRANT USAGE, CREATE ON SCHEMA events TO {role}")
        followed.make_views()
        assert followed.views(address_of(coffers.proxy)) == []  # not at once
        followed.views_again_s = 0.0
        followed.make_views()
        assert followed.contracts()[0].views_problem is None
        assert followed.views(address_of(coffers.proxy)) == ["coffer_deposited"]
        assert [*part.of_database(database)] == []
    execute(database_url, f"DROP OWNED BY {role}; DROP ROLE {role}")
