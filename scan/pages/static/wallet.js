"use strict";
// The wallets of this browser (EIP-1193), found by EIP-6963 or as window.ethereum.
const browserWallets = (() => {
  const MOST = 50;
  const announced = new Map(); // by uuid: {name, provider}
  const listeners = [];

  window.addEventListener("eip6963:announceProvider", (event) => {
    const {info, provider} = event.detail || {};
    if (!info || typeof info.uuid !== "string" || typeof provider?.request !== "function") return;
    if (announced.size >= MOST && !announced.has(info.uuid)) return;
    announced.set(info.uuid, {name: String(info.name || "Wallet").slice(0, 50), provider});
    for (const listener of listeners) listener();
  });
  window.dispatchEvent(new Event("eip6963:requestProvider"));
  window.addEventListener("ethereum#initialized", () => listeners.forEach((listener) => listener()), {once: true});

  function list() {
    if (announced.size) return [...announced.values()];
    return typeof window.ethereum?.request === "function" ? [{name: "Browser wallet", provider: window.ethereum}] : [];
  }

  // Also of what a wallet throws, which may be anything.
  function message(error) {
    if (error?.code === 4001) return "The request was rejected in the wallet.";
    return String(error?.message || error || "The wallet failed.").slice(0, 500);
  }

  async function account(provider) {
    const accounts = await provider.request({method: "eth_requestAccounts"});
    const first = Array.isArray(accounts) ? accounts[0] : undefined;
    if (typeof first !== "string" || !/^0x[0-9a-fA-F]{40}$/.test(first)) {
      throw new Error("The wallet shares no account with this page: create or connect one, and try again.");
    }
    return first;
  }

  return {list, account, message, onChange: (listener) => listeners.push(listener)};
})();
