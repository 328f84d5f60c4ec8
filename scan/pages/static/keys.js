"use strict";
// A key for whoever signs with a wallet (see wallet.js), and the keys of an address.
(() => {
  const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, ""); // above /static
  const byId = (id) => document.getElementById(id);

  function complain(error) {
    byId("message").textContent = error ? browserWallets.message(error) : "";
    byId("message").hidden = !error;
  }

  async function api(path, options) {
    const response = await fetch(base + "/api/v1" + path, options);
    const body = await response.json();
    if (!response.ok) throw new Error(body.error);
    return body;
  }

  const hex = (text) => "0x" + [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, "0")).join("");

  async function getKey(label) {
    const [{provider}] = browserWallets.list();
    const account = await browserWallets.account(provider);
    const owner = account.toLowerCase();
    const timestamp = Date.now();
    const message = `Scan API Key Request\nAddress: ${owner}\nTimestamp: ${timestamp}`;
    const signature = await provider.request({method: "personal_sign", params: [hex(message), account]});
    const body = JSON.stringify({ownerAddress: owner, signature, timestamp, label});
    const created = await api("/keys", {method: "POST", headers: {"Content-Type": "application/json"}, body});
    return {owner, key: created.key};
  }

  async function onGetKey(event) {
    event.preventDefault();
    complain(null);
    const button = event.target.querySelector("button");
    button.disabled = true;
    try {
      const {owner, key} = await getKey(event.target.label.value);
      byId("key").textContent = key;
      byId("new-key").hidden = false;
      byId("copy-key").onclick = () => navigator.clipboard.writeText(key);
      byId("use-key").onclick = () => {
        sessionStorage.setItem("owner", owner);
        sessionStorage.setItem("key", key);
        location.href = base + "/webhooks";
      };
      byId("list-keys").owner.value = owner;
      await listKeys(owner);
    } catch (error) {
      complain(error);
    }
    button.disabled = false;
  }

  function row(cells, tag) {
    const made = document.createElement("tr");
    for (const text of cells) made.appendChild(document.createElement(tag)).textContent = text;
    return made;
  }

  async function listKeys(owner) {
    const list = (await api("/keys?owner=" + encodeURIComponent(owner))).keys;
    const table = document.createElement("table");
    table.createTHead().append(row(["Key", "Label", "Per minute", "Requests", "Last used", "Active"], "th"));
    const body = table.createTBody();
    for (const key of list) {
      body.append(row([key.keyPrefix + "…", key.label, key.requestsPerMinute, key.totalRequests, key.lastUsedAt, key.active ? "yes" : "no"], "td"));
    }
    const frame = document.createElement("div");
    frame.className = "table";
    frame.append(list.length ? table : "This address has no keys.");
    byId("keys").replaceChildren(frame);
  }

  byId("list-keys").hidden = false;
  function showWallet() {
    byId("get-key").hidden = !browserWallets.list().length;
    byId("no-wallet").hidden = browserWallets.list().length > 0;
  }
  browserWallets.onChange(showWallet);
  showWallet();
  byId("get-key").addEventListener("submit", onGetKey);
  byId("list-keys").addEventListener("submit", (event) => {
    event.preventDefault();
    complain(null);
    listKeys(event.target.owner.value).catch(complain);
  });
})();
