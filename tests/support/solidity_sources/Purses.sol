// SPDX-License-Identifier: MIT
pragma solidity 0.8.28;

/// Moves coins inside transactions in every way the EVM has.
contract Purse {
    constructor() payable {}

    receive() external payable {}

    function pay(address payable to, uint256 amount) public payable {
        (bool done, ) = to.call{value: amount}("");
        require(done, "not paid");
    }

    function payEach(address payable[] calldata to, uint256 amount) external payable {
        for (uint256 n = 0; n < to.length; n++) pay(to[n], amount);
    }

    /// The transaction succeeds, whatever becomes of the payment: more than there is, for one.
    function offer(address payable to, uint256 amount) external payable {
        to.call{value: amount}("");
    }

    function payAndRevert(address payable to, uint256 amount) external payable {
        pay(to, amount);
        revert("changed my mind");
    }

    /// The first and the last payment stand, what is between them is undone.
    function payAroundRevert(address payable to, uint256 amount) external payable {
        pay(to, amount);
        try this.payAndRevert{value: amount}(to, amount) {} catch {}
        pay(to, amount + 1);
    }

    /// To and fro, each call inside the one before.
    function bounce(Purse other, uint256 times) external payable {
        if (times > 0) other.bounce{value: times}(this, times - 1);
    }

    /// The code of another contract, run as this one's: its payments come from here.
    function lend(address code, address payable to, uint256 amount) external payable {
        (bool done, ) = code.delegatecall(abi.encodeCall(this.pay, (to, amount)));
        require(done, "not lent");
    }

    /// CALLCODE with value, which this contract pays to itself.
    function borrow(address code, uint256 amount) external payable {
        assembly {
            pop(callcode(gas(), code, amount, 0, 0, 0, 0))
        }
    }

    function look(address at) external payable {
        at.staticcall("");
        at.call("");
    }

    function make(uint256 amount) public payable returns (Pouch) {
        return new Pouch{value: amount}();
    }

    function makeAt(bytes32 salt, uint256 amount) external payable returns (Pouch) {
        return new Pouch{salt: salt, value: amount}();
    }

    function makeSpender(address payable to, uint256 amount) external payable {
        new Spender{value: amount}(to);
    }

    function close(address payable to) external payable {
        selfdestruct(to);
    }

    /// Made and closed in one transaction, twice: the second time there is nothing left.
    function makeAndClose(address payable to, uint256 amount) external payable {
        Pouch made = make(amount);
        made.close(to);
        made.close(to);
    }

    /// What is paid after the end of a new contract is lost.
    function makeCloseAndPay(address payable to, uint256 amount, uint256 later) external payable {
        Pouch made = make(amount);
        made.close(to);
        pay(payable(made), later);
    }

    function closeAndRevert(address payable to) external payable {
        this.close(to);
        revert("still open");
    }

    function closeInVain(address payable to) external payable {
        try this.closeAndRevert(to) {} catch {}
    }
}

contract Pouch {
    constructor() payable {}

    receive() external payable {}

    function close(address payable to) external payable {
        selfdestruct(to);
    }
}

/// Pays on from its constructor.
contract Spender {
    constructor(address payable to) payable {
        to.transfer(msg.value);
    }
}
