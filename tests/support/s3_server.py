"""A server of S3 on loopback, with a bucket."""

from contextlib import contextmanager

import pytest
from pyarrow import fs

CREDENTIALS = {"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}


@contextmanager
def s3_bucket(name):
    """The server's URL, and the query by which URIs of the bucket lead to it. Credentials are in
    the environment while it lasts."""
    from moto.server import ThreadedMotoServer  # takes 0.2 s, and every worker collects its tests

    server = ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    query = f"endpoint_override={host}:{port}&scheme=http&region=us-east-1"
    with pytest.MonkeyPatch.context() as patch:
        for variable, value in CREDENTIALS.items():
            patch.setenv(variable, value)
        filesystem, _ = fs.FileSystem.from_uri(f"s3://{name}?{query}&allow_bucket_creation=true")
        filesystem.create_dir(name)
        yield f"http://{host}:{port}", query
    server.stop()
