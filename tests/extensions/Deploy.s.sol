// SPDX-License-Identifier: MIT
pragma solidity ^0.8.0;
import "../src/Stored.sol";
import "../src/Vault.sol";
interface Vm { function startBroadcast() external; function stopBroadcast() external; }
contract Deploy {
    bool public IS_SCRIPT = true;
    function run() external {
        Vm vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));
        vm.startBroadcast();
        new Stored(5);
        new Stored(6);
        new Vault();
        vm.stopBroadcast();
    }
}
