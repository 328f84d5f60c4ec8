
pragma solidity ^0.8.20;

contract Wallet {
    fallback() external payable {}
}

contract Factory {
    event Made(address indexed wallet, uint256 number);
    event Named(address wallet);

    function make() external { emit Made(address(new Wallet()), 7); }
    function makeUnnamed() external { new Wallet(); emit Made(address(this), 7); }
    function name(address wallet) external { emit Made(wallet, 7); emit Named(wallet); }
}
