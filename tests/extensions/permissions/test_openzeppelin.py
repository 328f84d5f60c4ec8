"""OpenZeppelin's guards, initializers and managers around checks of the caller, compared with calls
of each function."""

from collections.abc import Iterator

import pytest

from tests.extensions.permissions.test_permissions import (
    ACCESS,
    STRANGER,
    Deployed,
    accounts_of,
    deployed,
)
from tests.support.explorer import Explorer

OZ = "@openzeppelin/contracts"
GUARDED = f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;
import {{ReentrancyGuard}} from "{OZ}/utils/ReentrancyGuard.sol";
import {{ReentrancyGuardTransient}} from "{OZ}/utils/ReentrancyGuardTransient.sol";
import {{Pausable}} from "{OZ}/utils/Pausable.sol";
import {{AccessControl}} from "{OZ}/access/AccessControl.sol";
import {{Ownable2Step, Ownable}} from "{OZ}/access/Ownable2Step.sol";
import {{AccessControlDefaultAdminRules}} from
    "{OZ}/access/extensions/AccessControlDefaultAdminRules.sol";
import {{Initializable}} from "{OZ}/proxy/utils/Initializable.sol";
import {{TimelockController}} from "{OZ}/governance/TimelockController.sol";

contract Guarded is Ownable2Step, AccessControl, ReentrancyGuard, Pausable, Initializable {{
    bytes32 public constant KEEPER_ROLE = keccak256("KEEPER_ROLE");
    uint256 public value;
    constructor() Ownable(msg.sender) {{ _grantRole(KEEPER_ROLE, msg.sender); }}
    function rGuarded() external nonReentrant onlyOwner {{ value = 1; }}
    function rPaused() external whenNotPaused onlyRole(KEEPER_ROLE) {{ value = 1; }}
    function rBoth() external nonReentrant whenNotPaused onlyRole(KEEPER_ROLE) {{ value = 1; }}
    function rEither() external nonReentrant {{
        if (!hasRole(KEEPER_ROLE, msg.sender) && owner() != msg.sender) revert();
        value = 1;
    }}
    function rInitialized() external reinitializer(2) onlyOwner {{ value = 1; }}
    function nGuarded() external nonReentrant {{ value = 1; }}
    function nInitialized() external initializer {{ value = 1; }}
}}
contract Transient is Ownable, ReentrancyGuardTransient {{
    uint256 public value;
    constructor() Ownable(msg.sender) {{}}
    function rGuarded() external nonReentrant onlyOwner {{ value = 1; }}
    function nGuarded() external nonReentrant {{ value = 1; }}
}}
contract Rules is AccessControlDefaultAdminRules {{
    constructor() AccessControlDefaultAdminRules(1 days, msg.sender) {{}}
}}
contract Timelock is TimelockController {{
    constructor(address[] memory none) TimelockController(1, none, none, msg.sender) {{}}
}}
"""

ITEMS = f"""// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;
import {{ERC721Burnable, ERC721}} from "{OZ}/token/ERC721/extensions/ERC721Burnable.sol";
import {{ERC1155Burnable, ERC1155}} from "{OZ}/token/ERC1155/extensions/ERC1155Burnable.sol";
import {{Ownable}} from "{OZ}/access/Ownable.sol";

contract Items is ERC721Burnable, Ownable {{
    constructor() ERC721("Items", "I") Ownable(msg.sender) {{}}
    function mint(address to, uint256 id) external onlyOwner {{ _safeMint(to, id); }}
    function seize(uint256 id) external onlyOwner {{ _update(owner(), id, address(0)); }}
}}
contract Multiple is ERC1155Burnable, Ownable {{
    constructor() ERC1155("") Ownable(msg.sender) {{}}
    function mint(address to, uint256 id) external onlyOwner {{ _mint(to, id, 1, ""); }}
    function seize(address from, uint256 id) external onlyOwner {{
        _safeTransferFrom(from, owner(), id, 1, "");
    }}
}}
"""


@pytest.mark.parametrize("name", ["Items", "Multiple"])
def test_what_moves_items_of_others(explorer: Explorer, name: str) -> None:
    functions = deployed(explorer, ITEMS, name).functions()
    kinds = {n.partition("(")[0]: {e["kind"] for e in f["effects"]} for n, f in functions.items()}
    assert kinds["seize"] == {"moveHoldersTokens"}
    assert kinds["mint"] == {"mint"}
    assert kinds["burn"] == {"burn"}
    assert kinds["setApprovalForAll"] == set()


@pytest.fixture(scope="module", params=["Guarded", "Transient"])
def guarded(request: pytest.FixtureRequest, explorer: Explorer) -> Iterator[Deployed]:
    yield deployed(explorer, GUARDED, request.param)


def test_guards_before_a_check_do_not_hide_it(guarded: Deployed) -> None:
    owner = guarded.explorer.anvil.accounts[0].lower()
    named = {n: f for n, f in guarded.functions().items() if n[0] in ACCESS and n[1].isupper()}
    assert named
    for name, function in named.items():
        assert function["access"] == ACCESS[name[0]], function
        is_open = function["access"] == "unrestricted"
        # An initializer reverts for everybody after the first call.
        assert guarded.succeeds(STRANGER, name) == is_open, name
        if not is_open:
            assert {*accounts_of(guarded, function)} == {owner}
            assert guarded.succeeds(owner, name), name


def test_what_initializes_is_said(explorer: Explorer) -> None:
    functions = deployed(explorer, GUARDED, "Guarded").functions()
    kinds = {name: {e["kind"] for e in f["effects"]} for name, f in functions.items()}
    assert {n for n, of in kinds.items() if "initialize" in of} == {
        "rInitialized()",
        "nInitialized()",
    }


def test_one_result_of_several_names_an_account(explorer: Explorer) -> None:
    """The pending admin, whose setting takes a day, is nobody yet."""
    rules = deployed(explorer, GUARDED, "Rules")
    name = "acceptDefaultAdminTransfer()"
    function = rules.functions()[name]
    assert function["access"] == "restricted"
    assert accounts_of(rules, function) == [f"0x{0:040x}"]
    assert not rules.succeeds(STRANGER, name)


def test_a_role_that_may_be_open_to_all(explorer: Explorer) -> None:
    timelock = deployed(explorer, GUARDED, "Timelock", f"{32:064x}{0:064x}")
    functions = timelock.functions()
    execute = functions["execute(address,uint256,bytes,bytes32,bytes32)"]
    [condition] = execute["conditions"]
    assert execute["access"] == "unrecognised"
    assert condition["kind"] == "conditional"
    assert [caller["expression"] for caller in condition["callers"]] == ["EXECUTOR_ROLE"]
    assert functions["updateDelay(uint256)"]["conditions"][0]["callers"][0]["kind"] == "itself"
    page = explorer.client.get(f"/address/{timelock.address}?tab=permissions").text
    assert "in some calls alone" in page
