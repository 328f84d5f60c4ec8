"""A REST catalog of Apache Iceberg over one in SQLite: what PyIceberg's client asks of it."""

import threading
from contextlib import contextmanager
from itertools import count

from flask import Flask, request
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.schema import Schema
from pyiceberg.table import CommitTableRequest
from werkzeug.serving import make_server

STATUSES = {
    NamespaceAlreadyExistsError: 409,
    TableAlreadyExistsError: 409,
    CommitFailedException: 409,
    NoSuchTableError: 404,
}


def application(folder, unanswered):
    app, tables = Flask("rest_catalog"), "/v1/namespaces/<space>/tables"
    commits = count()
    catalog = load_catalog(
        "scan", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}"
    )

    def loaded(table):
        metadata = table.metadata.model_dump(mode="json", by_alias=True)
        return {"metadata-location": table.metadata_location, "metadata": metadata, "config": {}}

    @app.get("/v1/config")
    def config():
        return {"defaults": {}, "overrides": {}}

    @app.post("/v1/namespaces")
    def create_namespace():
        catalog.create_namespace(tuple(request.json["namespace"]))
        return {"namespace": request.json["namespace"]}

    @app.get(f"{tables}/<name>")
    def load(space, name):
        return loaded(catalog.load_table((space, name)))

    @app.post(tables)
    def create(space):
        schema = Schema.model_validate(request.json["schema"])
        properties = request.json["properties"]
        return loaded(
            catalog.create_table((space, request.json["name"]), schema, properties=properties)
        )

    @app.post(f"{tables}/<name>")
    def commit(space, name):
        changes = CommitTableRequest.model_validate(request.json)
        table = catalog.load_table((space, name))
        committed = catalog.commit_table(table, changes.requirements, changes.updates)
        if next(commits) in unanswered:
            raise OSError("the answer is lost")
        return loaded(committed)

    @app.errorhandler(Exception)
    def fail(error):
        status = STATUSES.get(type(error), 500)
        fields = {"message": str(error), "type": type(error).__name__, "code": status}
        return {"error": fields}, status

    return app


@contextmanager
def served(folder, unanswered=()):
    """The URI of a catalog of the tables in a folder; of some commits, by their number, the client
    does not learn that they were made."""
    server = make_server("127.0.0.1", 0, application(folder, unanswered))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
