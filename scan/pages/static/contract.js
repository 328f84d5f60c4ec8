"use strict";
// The source of a contract: copying a file, linking to a line.
(() => {
  const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, ""); // above /static

  for (const button of document.querySelectorAll("button[data-copy-from]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      try {
        const response = await fetch(base + button.dataset.copyFrom);
        if (!response.ok) throw new Error();
        await navigator.clipboard.writeText(await response.text());
        button.textContent = "Copied";
      } catch {
        button.textContent = "Not copied";
      }
    });
  }

  // A line's number is drawn before it by the style, so a click there is one left of its text.
  for (const source of document.querySelectorAll("pre.source")) {
    source.addEventListener("click", (event) => {
      const line = event.target.closest("span[id]");
      if (!line || !getSelection().isCollapsed) return;
      const text = document.createRange();
      text.selectNodeContents(line);
      if (event.clientX < text.getBoundingClientRect().left) location.hash = line.id;
    });
  }

  // A line that is linked to may be in a closed file.
  function openFile() {
    const line = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const file = line?.closest("details.file");
    if (!file) return;
    file.open = true;
    line.scrollIntoView({block: "center"});
  }
  window.addEventListener("hashchange", openFile);
  openFile();
})();

// Writing to a contract: the server encodes the call, the visitor's own wallet signs and sends it.
(() => {
  const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, ""); // above /static
  const LOOK_EVERY_MS = 3000;
  const MOST_LOOKS = 60;
  const COIN_DECIMALS = 18;
  const section = document.getElementById("write");
  if (!section) return;
  const {address, chain, chainName} = section.dataset;
  const choice = document.getElementById("wallet");

  function element(tag, text, properties = {}) {
    return Object.assign(document.createElement(tag), {textContent: text}, properties);
  }

  function showWallets() {
    const wallets = browserWallets.list();
    const chosen = choice.value;
    choice.replaceChildren(...wallets.map(({name}, index) => element("option", name, {value: String(index)})));
    if (chosen && wallets[chosen]) choice.value = chosen;
    document.getElementById("wallets").hidden = wallets.length < 2;
    if (wallets.length) state("Your wallet signs what you send here; this server sees no key.");
    for (const button of section.querySelectorAll("form.write button")) button.disabled = !wallets.length;
  }

  function state(text) {
    document.getElementById("wallet-state").textContent = text;
  }

  // As JSON text: a number of many digits stays whole, which it would not as a JavaScript number.
  function argument(input) {
    const text = input.value.trim();
    if (!("json" in input.dataset)) return JSON.stringify(input.value);
    try {
      JSON.parse(text);
    } catch {
      throw new Error(`Not valid JSON: ${text.slice(0, 100) || "nothing"}`);
    }
    return text;
  }

  function wei(text) {
    const parts = /^([0-9]*)(?:\.([0-9]*))?$/.exec(text.trim());
    if (!parts || (parts[2] || "").length > COIN_DECIMALS) throw new Error("The value to send is not an amount.");
    return BigInt((parts[1] || "0") + (parts[2] || "").padEnd(COIN_DECIMALS, "0")).toString();
  }

  async function encode(form, from) {
    const inputs = [...form.querySelectorAll("input[name=argument]")];
    const value = form.elements.value ? wei(form.elements.value.value) : "0";
    const body = `{"functionName":${JSON.stringify(form.dataset.function)},"args":[${inputs.map(argument).join(",")}],"value":"${value}","from":"${from}"}`;
    const headers = {"Content-Type": "application/json"};
    const response = await fetch(`${base}/api/v1/contracts/${address}/encode`, {method: "POST", headers, body});
    const call = await response.json();
    if (!response.ok) throw new Error(call.error);
    if (call.to !== address) throw new Error("The server encoded a call of another contract.");
    return call;
  }

  function offerSwitch(output, provider, isChain) {
    const text = `The wallet is on chain ${isChain}, this contract is on ${chainName || "chain " + chain} (chain id ${chain}). `;
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

  function problem(text) {
    return element("span", text, {className: "problem"});
  }

  async function send(form, output) {
    const wallet = browserWallets.list()[Number(choice.value) || 0];
    if (!wallet) throw new Error("This browser has no wallet.");
    const {provider} = wallet;
    const from = await browserWallets.account(provider);
    state(`Connected: ${from}`);
    const walletChain = BigInt(await provider.request({method: "eth_chainId"})).toString();
    if (walletChain !== chain) return offerSwitch(output, provider, walletChain);
    const call = await encode(form, from);
    const value = "0x" + BigInt(call.value).toString(16);
    const chainId = "0x" + BigInt(chain).toString(16);
    output.textContent = "Confirm in the wallet.";
    const hash = await provider.request({method: "eth_sendTransaction", params: [{from, to: call.to, data: call.data, value, chainId}]});
    if (typeof hash !== "string" || !/^0x[0-9a-fA-F]{64}$/.test(hash)) throw new Error("The wallet returned no transaction hash.");
    const link = element("a", hash, {href: `${base}/tx/${hash}`, className: "hash"});
    const progress = element("span", " Waiting for a block.", {className: "quiet"});
    output.replaceChildren("Sent: ", link, progress);
    follow(link.href, progress, MOST_LOOKS);
  }

  async function follow(url, progress, looks) {
    if (!looks || !progress.isConnected) return;
    try {
      if (!document.hidden && (await fetch(url, {method: "HEAD"})).ok) {
        progress.textContent = " In a block.";
        return;
      }
    } catch {
      // the next look may succeed
    }
    setTimeout(follow, LOOK_EVERY_MS, url, progress, looks - 1);
  }

  async function onSend(event) {
    event.preventDefault();
    const form = event.target;
    const button = form.querySelector("button");
    const output = form.querySelector("output");
    output.textContent = "";
    button.disabled = true;
    try {
      await send(form, output);
    } catch (error) {
      output.replaceChildren(problem(browserWallets.message(error)));
    }
    button.disabled = false;
  }

  section.hidden = false;
  for (const form of section.querySelectorAll("form.write")) form.addEventListener("submit", onSend);
  browserWallets.onChange(showWallets);
  showWallets();
})();
