"use strict";
// Adds the page's token to the visitor's wallet (EIP-747), which asks its owner first.
(() => {
  const place = document.getElementById("add-token");
  if (!place) return;
  const say = (text) => { place.querySelector("[role=status]").textContent = text; };
  const show = () => { place.hidden = !browserWallets.list().length; };

  place.querySelector("button").addEventListener("click", async () => {
    const {chain, address, symbol, decimals} = place.dataset;
    const chainId = `0x${BigInt(chain).toString(16)}`;
    const token = {type: "ERC20", options: {address, symbol, decimals: Number(decimals)}};
    try {
      const [{provider}] = browserWallets.list();
      if (BigInt(await provider.request({method: "eth_chainId"})) !== BigInt(chain)) {
        await provider.request({method: "wallet_switchEthereumChain", params: [{chainId}]});
      }
      const isAdded = await provider.request({method: "wallet_watchAsset", params: token});
      say(isAdded ? "The wallet has the token." : "The wallet did not add the token.");
    } catch (error) {
      say(browserWallets.message(error));
    }
  });
  browserWallets.onChange(show);
  show();
})();
