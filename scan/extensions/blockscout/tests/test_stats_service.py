"""Counters and lines of the service of statistics, beside the days of /api/v1."""

import yaml

from scan.extensions.blockscout.paths import answered_paths


def test_the_document_names_all_paths_and_their_parameters(client):
    """Of the page "API docs" of Blockscout's frontend, which reads it as YAML."""
    prefix = "/stats-service/api/v1"
    document = yaml.safe_load(client.get(f"{prefix}/docs/swagger.yaml").text)
    served = {path for path in answered_paths() if path.startswith(prefix)}
    templates = {path.replace("{", "<").replace("}", ">") for path in document["paths"]}
    assert {f"/stats-service{path}" for path in templates} == served - {
        f"{prefix}/docs/swagger.yaml"
    }
    assert all(page["get"]["summary"] for page in document["paths"].values())
    line = document["paths"]["/api/v1/lines/{name}"]["get"]
    assert [parameter["name"] for parameter in line["parameters"]] == [
        "name", "from", "resolution", "to"
    ]  # fmt: skip
