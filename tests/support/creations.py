"""A source of which several creations are made."""

from tests.support.explorer import compiled, standard_input

PATH = "contracts/Token.sol"
NOT_VERIFIED = "Contract source code not verified"


def built(source, name="Token", version="0.8.28", **settings):
    return compiled(version, standard_input({PATH: source}, **settings), PATH, name)
