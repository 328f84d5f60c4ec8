"""Two chains, each with a service of its own, behind one nginx."""

from collections import namedtuple
from contextlib import ExitStack, contextmanager

from tests.support.anvil import Anvil
from tests.support.indexing import Indexing
from tests.support.scenario.stage import Stage
from tests.support.scenario.tokens import honest_tokens
from tests.support.serving import ROOT, free_port, gunicorn_started, nginx, wait_for

CHAINS = {"eth": ("Ethereum", 1), "bsc": ("BNB Chain", 56)}


Front = namedtuple("Front", "url anvils stages instances")


@contextmanager
def several_chains(postgres, template, solc_dir, folder):
    with ExitStack() as stack:
        front = Front("", {}, {}, {})
        for chain in CHAINS:
            start_chain(stack, postgres, template, solc_dir, chain, front)
        behind = nginx(folder, [front.instances["eth"]] * 3, of_chains(front.instances))
        yield front._replace(url=stack.enter_context(behind))


def start_chain(stack, postgres, template, solc_dir, chain, front):
    """A chain with some tokens, indexed, and one instance that serves it."""
    name, number = CHAINS[chain]
    anvil = front.anvils[chain] = stack.enter_context(Anvil("--chain-id", str(number)))
    stage = front.stages[chain] = Stage(anvil, seed=number)
    honest_tokens(stage)
    database_url = stack.enter_context(postgres.cloned(template))
    stack.enter_context(Indexing(database_url, anvil.url)).wait_for(anvil.head())
    port = free_port()
    process = stack.enter_context(
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
    front.instances[chain] = wait_for(port, process)


def of_chains(instances):
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
