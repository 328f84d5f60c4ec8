"""What lives as long as the process: names of functions."""

from collections.abc import Iterable

from scan.extensions.etherscan.function_names import KnownFunctionNames
from scan.http.services import Services


def services(_core: Services) -> Iterable[object]:
    return (KnownFunctionNames(),)
