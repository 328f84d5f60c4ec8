"""What lives as long as the process: names of functions."""

from scan.extensions.etherscan.function_names import KnownFunctionNames
from scan.http.services import Services


def service(_core: Services) -> object:
    return KnownFunctionNames()
