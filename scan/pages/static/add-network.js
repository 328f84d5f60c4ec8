"use strict";
// Adds this chain to the visitor's wallet (EIP-3085), which asks its owner first.
(() => {
  const place = document.getElementById("add-network");
  if (!place) return;
  const say = (text) => { place.querySelector("span").textContent = text; };
  const show = () => { place.hidden = !browserWallets.list().length; };

  place.querySelector("button").addEventListener("click", async () => {
    const {chain, name, symbol, rpc} = place.dataset;
    const network = {
      chainId: `0x${BigInt(chain).toString(16)}`,
      chainName: name,
      nativeCurrency: {name: symbol, symbol, decimals: 18},
      rpcUrls: [rpc],
    };
    if (location.protocol === "https:") network.blockExplorerUrls = [location.origin];
    try {
      const [{provider}] = browserWallets.list();
      await provider.request({method: "wallet_addEthereumChain", params: [network]});
      say("The network is in your wallet.");
    } catch (error) {
      say(browserWallets.message(error));
    }
  });
  browserWallets.onChange(show);
  show();
})();
