"""ENS on a chain: the registry, resolvers and reverse registrar that its authors publish."""

from eth_utils import keccak

from tests.support.anvil import ZERO, Contract, calldata, creation_code
from tests.support.solidity import published


def node_of(name):
    """By EIP-137, which leaves it to others whether the name is normalised."""
    node = bytes(32)
    for label in reversed(name.split(".")):
        node = keccak(node + keccak(text=label))
    return node


class EnsChain:
    def __init__(self, anvil):
        self.anvil = anvil
        self.owner, *self.people = anvil.accounts
        self.registry = self._deploy("ens", "ENSRegistry")
        self.resolver = self._deploy("resolver", "PublicResolver", self.registry.address)
        registry = self.registry.address
        default = self._deploy("resolver", "DefaultReverseResolver", registry)
        self.registrar = self._deploy("ens", "ReverseRegistrar", registry, default.address)
        self.own("reverse")
        owned = node_of("reverse"), keccak(text="addr"), self.registrar.address
        self.do(self.registry, "setSubnodeOwner(bytes32,bytes32,address)", *owned)
        self.universal = anvil.deploy(self.owner, "UniversalResolver", self.registry.address)

    def own(self, name):
        """The owner of the root takes a name, and those above it."""
        label, _, parent = name.partition(".")
        if parent:
            self.own(parent)
        node = node_of(parent) if parent else bytes(32)
        owned = node, keccak(text=label), self.owner
        self.do(self.registry, "setSubnodeOwner(bytes32,bytes32,address)", *owned)

    def point(self, name, address):
        """A name leads to an address from now on."""
        self.resolve_by(name, self.resolver)
        self.do(self.resolver, "setAddr(bytes32,address)", node_of(name), address)

    def point_on(self, name, address, coin_type):
        """A name leads to an address on another chain."""
        self.resolve_by(name, self.resolver)
        entry, value = "setAddr(bytes32,uint256,bytes)", bytes.fromhex(address[2:])
        self.do(self.resolver, entry, node_of(name), coin_type, value)

    def choose_everywhere(self, account, name):
        """The name of an account on all chains, as ENS's default registrar keeps it."""
        reverse = f"{account[2:].lower()}.default.reverse"
        self.resolve_by(reverse, self.resolver)
        self.name(reverse, name)

    def name(self, reverse, name):
        self.do(self.resolver, "setName(bytes32,string)", node_of(reverse), name)

    def be_at(self, contract, address):
        """The code of a contract, with an empty storage, is at another address as well."""
        code = self.anvil.call("eth_getCode", contract.address, "latest")
        self.anvil.call("anvil_setCode", f"0x{address.hex()}", code)
        return Contract(f"0x{address.hex()}", contract.artifact)

    def offchain(self, urls, sender=ZERO, depth=1):
        """A resolver that asks other hosts, `depth` times one after another."""
        return self.anvil.deploy(self.owner, "Offchain", urls, sender, depth)

    def resolve_by(self, name, resolver):
        self.own(name)
        entry = "setResolver(bytes32,address)"
        self.do(self.registry, entry, node_of(name), resolver.address)

    def choose(self, account, name):
        """An account chooses its primary name, which may be any text."""
        self.do(self.registrar, "setName(string)", name, sender=account)

    def be_named_by(self, account, resolver):
        """An account lets a resolver of its own say its primary name."""
        entry = "claimWithResolver(address,address)"
        self.do(self.registrar, entry, account, resolver.address, sender=account)

    def do(self, contract, signature, *args, sender=None, gas=3_000_000):
        data = calldata(signature, *args)
        sent = self.anvil.send(sender or self.owner, contract.address, data=data, gas=gas)
        assert self.anvil.receipt_of(sent)["status"] == "0x1", signature

    def _deploy(self, package, name, *args):
        artifact = published(name, f"@ensdomains/{package}/build/contracts/{name}.json")
        sent = self.anvil.send(self.owner, None, data=creation_code(artifact, *args), gas=9_000_000)
        receipt = self.anvil.receipt_of(sent)
        assert receipt["status"] == "0x1", name
        return Contract(receipt["contractAddress"], artifact)
