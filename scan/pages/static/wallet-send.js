"use strict";
// Sending a call with a wallet of this browser: its choice, its chain, and what became of it.
const walletSend = (() => {
  const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, ""); // above /static
  const LOOK_EVERY_MS = 3000;
  const MOST_LOOKS = 60;

  function element(tag, text, properties = {}) {
    return Object.assign(document.createElement(tag), {textContent: text}, properties);
  }

  function problem(text) {
    return element("span", text, {className: "problem"});
  }

  // Keeps the choice of a wallet in a section, and its buttons enabled while there is one.
  function choose(section, buttons) {
    const choice = section.querySelector(".wallets select");
    const state = (text) => (section.querySelector(".wallet-state").textContent = text);
    function show() {
      const wallets = browserWallets.list();
      const chosen = choice.value;
      choice.replaceChildren(...wallets.map(({name}, index) => element("option", name, {value: String(index)})));
      if (chosen && wallets[chosen]) choice.value = chosen;
      section.querySelector(".wallets").hidden = wallets.length < 2;
      if (wallets.length) state("Transactions are signed in your wallet; this server never sees a private key.");
      for (const button of section.querySelectorAll(buttons)) button.disabled = !wallets.length;
    }
    browserWallets.onChange(show);
    show();
    return {wallet: () => browserWallets.list()[Number(choice.value) || 0], state};
  }

  function offerSwitch(output, provider, isChain, {chain, chainName}) {
    const text = `The wallet is on chain ${isChain}, this page is of ${chainName || "chain " + chain} (chain id ${chain}). `;
    const button = element("button", `Switch the wallet to chain ${chain}`, {type: "button"});
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        await provider.request({method: "wallet_switchEthereumChain", params: [{chainId: "0x" + BigInt(chain).toString(16)}]});
        output.textContent = "Switched. Send again.";
      } catch (error) {
        const unknown = error?.code === 4902 ? "The wallet does not know this chain: add it there first. " : "";
        output.replaceChildren(problem(unknown + browserWallets.message(error)));
      }
    });
    const shown = problem(text);
    shown.append(button);
    output.replaceChildren(shown);
  }

  // Sends what `callOf` returns for the wallet's account, with further fields if it has them, and returns
  // whether it was sent.
  async function send(section, wallets, output, callOf, words) {
    const wallet = wallets.wallet();
    if (!wallet) throw new Error("This browser has no wallet.");
    const {provider} = wallet;
    const {chain} = section.dataset;
    const from = await browserWallets.account(provider);
    wallets.state(`Connected: ${from}`);
    const walletChain = BigInt(await provider.request({method: "eth_chainId"})).toString();
    if (walletChain !== chain) {
      offerSwitch(output, provider, walletChain, section.dataset);
      return false;
    }
    const call = await callOf(from);
    const value = "0x" + BigInt(call.value || 0).toString(16);
    const chainId = "0x" + BigInt(chain).toString(16);
    output.textContent = `Confirm in the wallet. ${words()}`;
    const hash = await provider.request({method: "eth_sendTransaction", params: [{from, to: call.to, data: call.data, value, chainId, ...call.fields}]});
    if (typeof hash !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(hash)) throw new Error("The wallet returned no transaction hash.");
    const link = element("a", hash, {href: `${base}/tx/${hash}`, className: "hash"});
    const progress = element("span", " Waiting for a block.", {className: "quiet"});
    output.replaceChildren("Sent: ", link, progress);
    follow(`${base}/api/v1/transactions/${hash}`, progress, MOST_LOOKS);
    return true;
  }

  async function follow(url, progress, looks) {
    if (!looks || !progress.isConnected) return;
    try {
      const response = document.hidden ? null : await fetch(url);
      if (response?.ok && (await response.json()).status !== null) {
        progress.textContent = " In a block.";
        return;
      }
    } catch {
      // the next look may succeed
    }
    setTimeout(follow, LOOK_EVERY_MS, url, progress, looks - 1);
  }

  // The account that the wallet has connected to this page before; "" without one. Asks nobody.
  async function connected(wallets) {
    try {
      const accounts = await wallets.wallet()?.provider.request({method: "eth_accounts"});
      return /^0x[0-9a-fA-F]{40}$/.test(accounts?.[0]) ? accounts[0] : "";
    } catch {
      return "";
    }
  }

  // Sends, with the button disabled meanwhile and errors shown; returns whether it was sent.
  async function press(button, output, sending) {
    output.textContent = "";
    button.disabled = true;
    try {
      return await sending();
    } catch (error) {
      output.replaceChildren(problem(browserWallets.message(error)));
      return false;
    } finally {
      button.disabled = false;
    }
  }

  return {base, choose, connected, send, press};
})();
