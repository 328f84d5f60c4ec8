// SPDX-License-Identifier: MIT
pragma solidity ^0.8.22;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC1967Proxy} from "@openzeppelin/contracts/proxy/ERC1967/ERC1967Proxy.sol";
import {Initializable} from "@openzeppelin/contracts/proxy/utils/Initializable.sol";
import {UUPSUpgradeable} from "@openzeppelin/contracts/proxy/utils/UUPSUpgradeable.sol";

/// Accounts of one token, which their owners can withdraw from; its owner can replace the code.
contract HarborSavings is Initializable, UUPSUpgradeable {
    error NotTheOwner(address caller, address owner);
    error InsufficientDeposit(address account, uint256 deposited, uint256 requested);

    event Deposited(address indexed account, uint256 amount, uint256 deposited);
    event Withdrawn(address indexed account, uint256 amount, uint256 deposited);

    IERC20 public asset;
    address public owner;
    uint256 public totalDeposits;
    uint256 public depositors;
    mapping(address => uint256) public depositOf;

    function initialize(IERC20 asset_, address owner_) external initializer {
        asset = asset_;
        owner = owner_;
    }

    function deposit(uint256 amount) external {
        if (depositOf[msg.sender] == 0) depositors++;
        depositOf[msg.sender] += amount;
        totalDeposits += amount;
        require(asset.transferFrom(msg.sender, address(this), amount));
        emit Deposited(msg.sender, amount, depositOf[msg.sender]);
    }

    function withdraw(uint256 amount) external {
        uint256 deposited = depositOf[msg.sender];
        if (deposited < amount) revert InsufficientDeposit(msg.sender, deposited, amount);
        depositOf[msg.sender] = deposited - amount;
        totalDeposits -= amount;
        require(asset.transfer(msg.sender, amount));
        emit Withdrawn(msg.sender, amount, deposited - amount);
    }

    function version() external pure returns (string memory) {
        return "1.0.0";
    }

    function _authorizeUpgrade(address) internal view override {
        if (msg.sender != owner) revert NotTheOwner(msg.sender, owner);
    }
}

contract SavingsProxy is ERC1967Proxy {
    constructor(address implementation, bytes memory data) ERC1967Proxy(implementation, data) {}
}
