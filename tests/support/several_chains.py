"""Two chains, each with a service of its own, behind the gateway, and both behind nginx."""

import os
import subprocess
import sys
from collections import namedtuple
from contextlib import ExitStack, contextmanager

import requests

from tests.support.anvil import Anvil
from tests.support.forked_python import Forked
from tests.support.indexing import Indexing
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens
from tests.support.serving import ROOT, free_port, gunicorn_started, nginx, stop, wait_for

CHAINS = {"eth": ("Ethereum", 1), "bsc": ("BNB Chain", 56)}


Front = namedtuple("Front", "url anvils stages instances processes gateway")


@contextmanager
def several_chains(postgres, template, solc_dir, folder):
    with ExitStack() as stack:
        found = Front("", {}, {}, {}, {}, "")
        for chain in CHAINS:
            start_chain(stack, postgres, template, solc_dir, chain, found)
        yield stack.enter_context(fronted(found, folder))


@contextmanager
def fronted(chains, folder):
    """The same chains behind a gateway and nginx of their own."""
    with gateway(folder, chains.instances) as address:
        services = chains.instances | {"gateway": address}
        with nginx(folder, [chains.instances["eth"]] * 3, of_chains(folder, services)) as url:
            yield chains._replace(gateway=address, url=url)


@contextmanager
def gateway(folder, instances):
    """`scan gateway` in front of the chains' services; its URL."""
    tables = (
        f'[{chain}]\nchain_id = {number}\nname = "{name}"\nurl = "{instances[chain]}"\n'
        for chain, (name, number) in CHAINS.items()
    )
    (folder / "chains.toml").write_text("".join(tables))
    port = free_port()
    process = Forked(
        [sys.executable, "-m", "scan", "gateway", str(folder / "chains.toml")],
        cwd=ROOT,
        env=os.environ | {"PORT": str(port), "SCAN_TRUSTED_PROXIES": "1"},
        stderr=subprocess.PIPE,
    )
    try:
        yield wait_for(port, process)
    finally:
        stop(process)


def start_chain(stack, postgres, template, solc_dir, chain, front):
    """A chain with some tokens, indexed, and one instance that serves it."""
    name, number = CHAINS[chain]
    anvil = front.anvils[chain] = stack.enter_context(Anvil("--chain-id", str(number)))
    stage = front.stages[chain] = Stage(anvil, seed=number)
    honest_tokens(stage)
    database_url = stack.enter_context(postgres.cloned(template))
    stack.enter_context(Indexing(database_url, anvil.url)).wait_for(anvil.head())
    port = free_port()
    front.processes[chain] = stack.enter_context(
        gunicorn_started(
            database_url,
            port,
            RPC_URL=anvil.url,
            SCAN_BASE_PATH=f"/{chain}",
            SCAN_CHAIN_NAME=name,
            SCAN_RATE_LIMIT_ANONYMOUS="10000/minute",
            SCAN_RATE_LIMIT_PAGES="10000/minute",
            SCAN_TRUSTED_PROXIES="1",
            SCAN_SOLC_DIR=str(solc_dir),
        )
    )
    front.instances[chain] = wait_for(port, front.processes[chain])


def of_chains(folder, instances):
    """What an operator writes into scan.conf, as deploy/nginx-chains.conf says."""
    upstreams = "".join(
        f"upstream scan_{chain} {{ server {instance.removeprefix('http://')}; keepalive 32; }}\n"
        for chain, instance in instances.items()
    )
    deploy = ROOT / "deploy"
    return {
        "server {\n": f"include {deploy}/nginx-chains-map.conf;\n{upstreams}server {{\n",
        "# include /etc/nginx/scan-chains.conf;": f"include {deploy}/nginx-chains.conf;",
    }


def of_form(base, path, **fields):
    """A form of Etherscan's API by POST; its response."""
    return requests.post(f"{base}{path}", data=fields, timeout=30).json()
