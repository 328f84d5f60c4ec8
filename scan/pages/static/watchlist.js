"use strict";
// The browser's watch list, with what the API has of its addresses and tokens.
(() => {
  const {base, watched, setWatched, ownNames, setOwnNames} = window.scan;
  const byId = (id) => document.getElementById(id);
  const COIN_DECIMALS = 18;

  function complain(error) {
    byId("message").textContent = error ? String(error.message || error) : "";
    byId("message").hidden = !error;
  }

  async function api(path) {
    const response = await fetch(base + "/api/v1" + path);
    const body = await response.json();
    if (!response.ok) throw new Error(body.error);
    return body;
  }

  function element(tag, properties = {}, ...children) {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  }

  const grouped = (value) => BigInt(value).toLocaleString("en");

  // Whole, with the point below the others'.
  function amount(wei) {
    const digits = wei.padStart(COIN_DECIMALS + 1, "0");
    const fraction = digits.slice(-COIN_DECIMALS).replace(/0+$/, "");
    const shown = element("data", {className: "amount", value: wei}, grouped(digits.slice(0, -COIN_DECIMALS)));
    shown.append(element("span", {className: "fraction whole"}, fraction && "." + fraction));
    return shown;
  }

  function link(path, address, text) {
    return element("a", {href: `${base}${path}/${address.toLowerCase()}`}, text);
  }

  function hash(address) {
    const cut = element("span", {className: "cut"}, address.slice(8, -4));
    return element("span", {className: "hash short"}, address.slice(0, 8), cut, address.slice(-4));
  }

  function cell(label, content, className = "") {
    const made = element("td", {className}, content);
    made.dataset.label = label;
    return made;
  }

  function remover(item) {
    const button = element("button", {type: "button", className: "small"}, "Remove");
    button.setAttribute("aria-label", `Remove ${item.name || item.address}`);
    button.addEventListener("click", () => {
      setWatched(item.kind, item.address, "", false);
      showAll();
    });
    return button;
  }

  // [[label, content, class]] of an item whose record is yet to come, or null where there is none.
  function addressCells(item, record) {
    return [
      ["Address", link("/address", item.address, hash(item.address)), "lead"],
      ["Name", element("bdi", {}, ownNames()[item.address.toLowerCase()]?.name || item.name || ""), "wide"],
      [document.querySelector("#addresses th.number").textContent, record ? amount(record.balance) : "…", "number"],
      ["Transactions", record ? grouped(record.txCount) : "…", "number"],
    ];
  }

  function tokenCells(item, record) {
    const name = element("bdi", {}, item.name || "Unnamed token");
    return [
      ["Token", link("/token", item.address, name), "lead wide"],
      ["Contract", link("/address", item.address, hash(item.address))],
      ["Holders", record ? grouped(record.holderCount) : "…", "number"],
      ["Transfers", record ? grouped(record.transferCount) : "…", "number"],
    ];
  }

  function showTable(id, items, cellsOf) {
    byId(id).hidden = !items.length;
    const rows = items.map((item) => element("tr", {}, ...cellsOf(item).map((parts) => cell(...parts)), cell("", remover(item))));
    byId(id).querySelector("tbody").replaceChildren(...rows);
    return rows;
  }

  function fill(row, cells) {
    cells.forEach((parts, index) => row.cells[index].replaceWith(cell(...parts)));
  }

  async function showAll() {
    const list = watched();
    const addresses = list.filter((item) => item.kind !== "token");
    const tokens = list.filter((item) => item.kind === "token");
    byId("none").hidden = list.length > 0;
    const addressRows = showTable("addresses", addresses, addressCells);
    const tokenRows = showTable("tokens", tokens, tokenCells);
    complain(null);
    if (!list.length) return;
    const keys = new Set(list.map((item) => item.address.toLowerCase()));
    try {
      const {addresses: records} = await api(`/addresses?include=token&addresses=${[...keys].join(",")}`);
      const known = new Map(records.map((record) => [record.address, record]));
      const recordOf = (item) => known.get(item.address.toLowerCase());
      addresses.forEach((item, index) => fill(addressRows[index], addressCells(item, recordOf(item))));
      tokens.forEach((item, index) => fill(tokenRows[index], tokenCells(item, recordOf(item).token)));
    } catch (error) {
      complain(error);
    }
  }

  // A file is ours where each of its values is: others are left out.
  function take(text) {
    const file = JSON.parse(text);
    const names = Object.entries(file.names || {}).filter(([address, own]) => /^0x[0-9a-f]{40}$/.test(address) && typeof own?.name === "string" && typeof own.note === "string");
    const items = (Array.isArray(file.watchlist) ? file.watchlist : []).filter((item) => /^0x[0-9a-fA-F]{40}$/.test(item?.address) && ["address", "token"].includes(item.kind));
    setOwnNames({...ownNames(), ...Object.fromEntries(names.map(([address, {name, note}]) => [address, {name, note}]))});
    for (const {kind, address, name} of items.reverse()) setWatched(kind, address, String(name || ""), true);
    byId("taken").textContent = `${names.length} names and ${items.length} watched entries were imported.`;
    showAll();
  }

  byId("export").addEventListener("click", () => {
    const text = JSON.stringify({watchlist: watched(), names: ownNames()}, null, 2);
    const url = URL.createObjectURL(new Blob([text], {type: "application/json"}));
    element("a", {href: url, download: "watchlist.json"}).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  });
  byId("import").addEventListener("change", async (event) => {
    try {
      take(await event.target.files[0].text());
    } catch {
      complain("This file is not an exported watch list.");
    }
  });
  addEventListener("storage", showAll);
  showAll();
})();
