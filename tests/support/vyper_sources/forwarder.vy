# As deployed: creates proxies of a fixed address.
last: public(address)
calls: public(uint256)

@external
def make(target: address):
    self.calls += 1000
    self.last = create_minimal_proxy_to(target)
