"""Forms of pages are sent by these pages alone: another site could have its visitors' browsers send
one, each with its own address. Programs, which have no visitor, say nothing of their origin."""

from typing import NamedTuple
from urllib.parse import urlsplit

from scan.errors import ForeignForm
from scan.server.wsgi_responses import Environ

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class SameOrigin(NamedTuple):
    """`public_url` is the site's own, "" where it is not known; who sends a form to one of
    `token_paths` needs a token, which no other site knows."""

    public_url: str
    token_paths: frozenset[str]

    def require(self, method: str, page: str, environ: Environ) -> None:
        """Raise ForeignForm where a browser says that another site's page sends a form."""
        if method in SAFE_METHODS or page in self.token_paths:
            return
        site, origin = environ.get("HTTP_SEC_FETCH_SITE"), environ.get("HTTP_ORIGIN")
        if site is not None:  # which browsers leave out without TLS
            is_own = site in ("same-origin", "none")
        else:
            hosts = {environ.get("HTTP_HOST", ""), urlsplit(self.public_url).netloc} - {""}
            is_own = origin is None or origin.partition("://")[2] in hosts
        if not is_own:
            raise ForeignForm("Another site has sent this form: send it from the page that has it.")
