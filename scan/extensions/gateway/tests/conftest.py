"""Two chains behind the gateway and nginx, which the folder's tests share."""

import pytest

from tests.support.several_chains import several_chains


@pytest.fixture(scope="package")
def front(postgres, template, solc_dir, tmp_path_factory):
    with several_chains(postgres, template, solc_dir, tmp_path_factory.mktemp("nginx")) as front:
        yield front


@pytest.fixture(params=["nginx", "gateway"])
def base(front, request):
    """nginx with the gateway behind it, and the gateway alone, as `scan run --chains` has it."""
    return front.url if request.param == "nginx" else front.gateway
