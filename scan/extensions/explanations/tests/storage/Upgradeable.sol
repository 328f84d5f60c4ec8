// SPDX-License-Identifier: MIT
pragma solidity ^0.8.20;
import "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";

contract First is UUPSUpgradeable {
    struct Limits { uint64 most; uint64 least; }
    address public owner;
    uint64 public count;
    Limits public limits;
    uint256[4] private __gap;
    mapping(address => uint256) public credits;
    function add(address who, uint64 n) external {
        owner = who;
        count += n;
        credits[who] += n;
        limits.most = n;
    }
    function _authorizeUpgrade(address) internal override {}
}
contract Second is First {}
