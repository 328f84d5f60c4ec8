"use strict";
// A key for whoever signs with a wallet (see wallet.js), and the keys of an address, which it can end.
(() => {
  const {base} = window.scan;
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
      byId("copy-key").dataset.copy = key;
      byId("use-key").onclick = () => {
        sessionStorage.setItem("owner", owner);
        sessionStorage.setItem("key", key);
        location.href = base + "/webhooks";
      };
      byId("list-keys").owner.value = owner;
      byId("list-keys").key.value = key;
      await listKeys(owner);
    } catch (error) {
      complain(error);
    }
    button.disabled = false;
  }

  const NAMES = ["Key", "Label", "Per minute", "Requests", "Last used", "State"];

  function row(cells, tag) {
    const made = document.createElement("tr");
    cells.forEach((content, index) => {
      const cell = made.appendChild(document.createElement(tag));
      cell.append(content);
      if (tag === "td") cell.dataset.label = NAMES[index];
    });
    if (tag === "td") made.cells[0].className = "lead";
    return made;
  }

  // Any key of the address may end its others, and itself.
  async function endKey(key, owner) {
    complain(null);
    const own = byId("list-keys").key.value.trim();
    if (!own) {
      byId("list-keys").key.focus();
      throw new Error("To revoke a key, enter an API key of this address.");
    }
    if (!confirm(`Revoke the key ${key.keyPrefix}…? Requests with it will be refused.`)) return;
    await api("/keys/" + key.id, {method: "DELETE", headers: {"X-API-Key": own}});
    if (own.startsWith(key.keyPrefix) && sessionStorage.getItem("key") === own) sessionStorage.removeItem("key");
    await listKeys(owner);
  }

  const when = (text) => Object.assign(document.createElement("time"), {dateTime: text, textContent: text.replace("T", " ").replace("Z", " UTC")});

  function state(key, owner) {
    if (!key.active) return "revoked";
    const button = Object.assign(document.createElement("button"), {type: "button", className: "small", textContent: "Revoke"});
    button.setAttribute("aria-label", `Revoke the key ${key.keyPrefix}…`);
    button.addEventListener("click", () => endKey(key, owner).catch(complain));
    return button;
  }

  async function listKeys(owner) {
    const list = (await api("/keys?owner=" + encodeURIComponent(owner))).keys;
    const table = document.createElement("table");
    table.createTHead().append(row(NAMES, "th"));
    const body = table.createTBody();
    for (const key of list) {
      body.append(row([key.keyPrefix + "…", key.label, key.requestsPerMinute, key.totalRequests, key.totalRequests ? when(key.lastUsedAt) : "never", state(key, owner)], "td"));
    }
    const frame = document.createElement("div");
    frame.className = "table";
    frame.append(list.length ? table : "This address has no keys.");
    byId("keys").replaceChildren(frame);
    scan.showPage();
  }

  byId("list-keys").owner.value = sessionStorage.getItem("owner") || "";
  byId("list-keys").key.value = sessionStorage.getItem("key") || "";
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
