"""The contract whose calls are described, deployed, and services with descriptors."""

import json
from dataclasses import replace

import pytest

from app import create_app
from scan.extensions.clear_signing.settings import Settings
from scan.extensions.clear_signing.tests.exchange import PATH, SOURCE, VERSION, Chain
from tests.support.explorer import compiled, standard_input


@pytest.fixture(scope="module")
def chain(explorer):
    output = compiled(VERSION, standard_input({PATH: SOURCE}), PATH, "Exchange")
    yield Chain(explorer, explorer.deploy(output.creation))


@pytest.fixture
def client_of(chain, tmp_path):
    """A client of the service with these files in its folder of descriptors."""

    def client(**files):
        for name, content in files.items():
            text = content if isinstance(content, str) else json.dumps(content)
            (tmp_path / f"{name}.json").write_text(text)
        own = {**chain.explorer.settings.of_extensions, Settings: Settings(tmp_path)}
        return create_app(replace(chain.explorer.settings, of_extensions=own)).test_client()

    return client
