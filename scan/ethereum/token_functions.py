"""Functions of tokens' standards, by selector: what other functions of a token change no standard
says, be it balances without an event or its name. Pure.
"""

from collections.abc import Iterable

from scan.ethereum.rlp_and_tries import keccak256


def _selectors(signatures: Iterable[str]) -> frozenset[bytes]:
    return frozenset(keccak256(signature.encode())[:4] for signature in signatures)


# Those that only read, which contracts compiled long ago call otherwise than statically.
_READING = _selectors(
    """
    name() symbol() decimals() totalSupply() balanceOf(address) allowance(address,address)
    supportsInterface(bytes4) ownerOf(uint256) tokenURI(uint256) getApproved(uint256)
    isApprovedForAll(address,address) tokenByIndex(uint256) tokenOfOwnerByIndex(address,uint256)
    balanceOf(address,uint256) balanceOfBatch(address[],uint256[]) uri(uint256) owner() getOwner()
    nonces(address) DOMAIN_SEPARATOR() getReserves() token0() token1() factory() asset()
    totalAssets() convertToShares(uint256) convertToAssets(uint256)
    """.split()
)
# Those whose events say what they change: of ERC-20, 2612, 677, 721, 1155, 6909 and 4626, of
# wrapped coin, and of the pools that are tokens of shares.
_SAYING = _selectors(
    """
    transfer(address,uint256) transferFrom(address,address,uint256) approve(address,uint256)
    increaseAllowance(address,uint256) decreaseAllowance(address,uint256)
    permit(address,address,uint256,uint256,uint8,bytes32,bytes32)
    transferAndCall(address,uint256,bytes) safeTransferFrom(address,address,uint256)
    safeTransferFrom(address,address,uint256,bytes) setApprovalForAll(address,bool)
    safeTransferFrom(address,address,uint256,uint256,bytes)
    safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)
    transfer(address,uint256,uint256) transferFrom(address,address,uint256,uint256)
    approve(address,uint256,uint256) setOperator(address,bool) deposit() withdraw(uint256)
    deposit(uint256,address) mint(uint256,address) withdraw(uint256,address,address)
    redeem(uint256,address,address) mint(address) burn(address) skim(address) sync()
    swap(uint256,uint256,address,bytes)
    """.split()
)


def may_change_unsaid(selector: bytes, *, has_emitted: bool) -> bool:
    """Return whether a call may change what a token answers without an event that says so, given
    whether the token emitted any in its block. Coin that is sent without input calls no function.
    """
    if len(selector) < 4 or selector in _READING:
        return False
    return not has_emitted or selector not in _SAYING
