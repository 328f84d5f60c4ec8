"use strict";
// Webhooks of an owner through the API: list, create, change, addresses, test, deliveries, retry, delete.
(() => {
  const {base} = window.scan;
  const byId = (id) => document.getElementById(id);
  const form = byId("owner-form");

  function complain(error) {
    byId("message").textContent = error ? String(error.message || error) : "";
    byId("message").hidden = !error;
    if (error) byId("message").scrollIntoView({block: "nearest"});
  }

  async function api(path, method = "GET", body = undefined) {
    const headers = {"Content-Type": "application/json"};
    const credential = form.key.value.trim();
    if (credential) headers[credential.startsWith("scan_") ? "X-API-Key" : "X-Webhook-Secret"] = credential;
    const response = await fetch(base + "/api/v1" + path, {method, headers, body: body && JSON.stringify(body)});
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  function element(tag, text, properties = {}) {
    return Object.assign(document.createElement(tag), {textContent: text}, properties);
  }

  function button(text, action) {
    const made = element("button", text, {type: "button", className: "small"});
    made.addEventListener("click", async () => {
      made.disabled = true;
      complain(null);
      try {
        await action();
      } catch (error) {
        complain(error);
      }
      made.disabled = false;
    });
    return made;
  }

  function table(names, rows, none) {
    const frame = element("div", "", {className: "table"});
    if (!rows.length) {
      frame.textContent = none;
      return frame;
    }
    const made = document.createElement("table");
    const head = made.createTHead().insertRow();
    for (const name of names) head.append(element("th", name));
    const body = made.createTBody();
    for (const cells of rows) {
      const row = body.insertRow();
      cells.forEach((content, index) => {
        const cell = row.insertCell();
        cell.append(...[content].flat());
        cell.dataset.label = names[index];
      });
    }
    frame.append(made);
    return frame;
  }

  const lines = (text) => text.split(/[\s,]+/).filter(Boolean);
  const long = (text) => element("span", text, {className: "long"});
  const when = (text) => element("time", text.replace("T", " ").replace("Z", " UTC"), {dateTime: text});

  // What narrows a webhook's events, as the API has it: null where nothing does.
  function narrowingOf(form) {
    const amounts = lines(form.minimumValue.value);
    const pairs = amounts.flatMap((unit, index) => (index % 2 ? [] : [[unit, amounts[index + 1] ?? ""]]));
    return {
      direction: form.direction.value || null,
      tokens: form.tokens.value.trim() ? lines(form.tokens.value) : null,
      minimumValue: amounts.length > 1 ? Object.fromEntries(pairs) : (amounts[0] ?? null),
      confirmations: form.confirmations.value === "" ? null : Number(form.confirmations.value),
    };
  }

  const short = (hex) => (/^0x.{19}/.test(hex) ? `${hex.slice(0, 8)}…${hex.slice(-4)}` : (hex ?? "any"));
  const amountsOf = (value) => (value && typeof value === "object" ? Object.entries(value).map((pair) => pair.join(" ")).join("\n") : value || "");

  function narrowingInWords({direction, tokens, minimumValue, confirmations, topics, format}) {
    const parts = [
      format && `${format} messages`,
      direction && `${direction} only`,
      tokens && `tokens ${tokens.map(short).join(", ")}`,
      minimumValue && `at least ${amountsOf(minimumValue).split("\n").map((pair) => pair.split(" ").map(short).join(" ")).join(", ")}`,
      topics && `topics ${topics.map((topic) => [topic].flat().map(short).join(" or ")).join(", ")}`,
      confirmations !== null && `after ${confirmations} blocks`,
    ];
    return parts.filter(Boolean).join("; ") || "all";
  }

  let chosen = null; // the webhook of the sections below the list

  function choose(webhook, section) {
    chosen = webhook;
    for (const id of ["change-section", "addresses-section"]) byId(id).hidden = id !== section;
    byId(section).focus(); // which brings it into view
  }

  function showChange(webhook) {
    const form = byId("change-form");
    byId("changed").textContent = webhook.url;
    form.direction.value = webhook.direction || "";
    form.tokens.value = (webhook.tokens || []).join("\n");
    form.minimumValue.value = amountsOf(webhook.minimumValue);
    form.confirmations.value = webhook.confirmations ?? "";
    choose(webhook, "change-section");
  }

  async function showAddresses(webhook, cursor = null) {
    const query = "?limit=100" + (cursor ? "&cursor=" + encodeURIComponent(cursor) : "");
    const page = await api(`/webhooks/${webhook.id}/addresses${query}`);
    const rows = page.addresses.map((address) => [long(address)]);
    byId("addresses").replaceChildren(element("p", page.total === 1 ? "1 address" : `${page.total} addresses`), table(["Address"], rows, "The list is empty."));
    if (page.next) byId("addresses").append(button("More", () => showAddresses(webhook, page.next)));
    choose(webhook, "addresses-section");
  }

  function rowOf(webhook) {
    const path = "/webhooks/" + webhook.id;
    const state = webhook.active ? "active" : webhook.stoppedReason || "stopped";
    const actions = [
      button("Test", async () => {
        await api(path + "/test", "POST");
        await showUntilSettled(webhook);
      }),
      " ",
      button("Deliveries", () => showDeliveries(webhook)),
      " ",
      ...(webhook.watchAddress ? [] : [button("Addresses", () => showAddresses(webhook)), " "]),
      button("Change", () => showChange(webhook)),
      " ",
      button(webhook.active ? "Deactivate" : "Activate", async () => {
        await api(path, "PATCH", {active: !webhook.active});
        await list();
      }),
      " ",
      button("Delete", async () => {
        if (!confirm(`Delete the webhook to ${webhook.url}?`)) return;
        await api(path, "DELETE");
        for (const id of ["change-section", "addresses-section", "deliveries-section"]) byId(id).hidden = true;
        await list();
      }),
    ];
    const watched = long(webhook.watchAddress || `a list of ${webhook.addressCount}`);
    const last = webhook.lastTriggeredAt ? when(webhook.lastTriggeredAt) : "never";
    return [long(webhook.url), watched, webhook.eventTypes.join(", "), long(narrowingInWords(webhook)), state, last, String(webhook.failCount), actions];
  }

  async function list() {
    const {webhooks} = await api("/webhooks?owner=" + encodeURIComponent(form.owner.value.trim()));
    const names = ["URL", "Watches", "Events", "Which", "State", "Last sent", "Failures", "Actions"];
    byId("webhooks").replaceChildren(table(names, webhooks.map(rowOf), "This owner has no webhooks."));
    scan.showPage();
  }

  // A receiver may take ten seconds; a failed attempt is repeated later.
  async function showUntilSettled(webhook) {
    for (let second = 0; second < 12; second += 1) {
      const [newest] = await showDeliveries(webhook);
      if (!newest || newest.status !== "pending" || newest.attempts) return;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }

  async function showDeliveries(webhook) {
    const path = `/webhooks/${webhook.id}/deliveries`;
    const {deliveries} = await api(path);
    const rows = deliveries.map((each) => [
      String(each.id),
      each.event,
      each.status,
      each.responseCode === null ? each.error || "" : String(each.responseCode),
      String(each.attempts),
      when(each.createdAt),
      button("Retry", async () => {
        await api(`${path}/${each.id}/retry`, "POST");
        await showDeliveries(webhook);
      }),
    ]);
    const names = ["Id", "Event", "Status", "Response", "Attempts", "Created", "Action"];
    byId("deliveries").replaceChildren(table(names, rows, "Nothing has been sent yet."), button("Refresh", () => showDeliveries(webhook)));
    byId("deliveries-section").hidden = false;
    return deliveries;
  }

  function remember() {
    sessionStorage.setItem("owner", form.owner.value.trim());
    sessionStorage.setItem("key", form.key.value.trim());
  }

  form.owner.value = sessionStorage.getItem("owner") || "";
  form.key.value = sessionStorage.getItem("key") || "";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    complain(null);
    remember();
    list().catch(complain);
  });
  byId("forget").addEventListener("click", () => {
    sessionStorage.removeItem("key");
    form.key.value = "";
  });
  byId("create-form").addEventListener("submit", async (event) => {
    event.preventDefault();
    complain(null);
    if (!form.reportValidity()) return;
    remember();
    const fields = new FormData(event.target);
    const eventTypes = fields.getAll("eventTypes");
    if (!eventTypes.length) return complain("Choose at least one kind of event.");
    const topics = fields.getAll("topic0").concat([1, 2, 3].map((n) => fields.get("topic" + n) || "")).map(lines);
    while (topics.length && !topics.at(-1).length) topics.pop();
    if (topics.length && !eventTypes.includes("log")) return complain("Topics apply to contract events: select these, too.");
    const watched = lines(fields.get("watched"));
    const body = {ownerAddress: form.owner.value.trim(), url: fields.get("url"), eventTypes};
    if (fields.get("format")) body.format = fields.get("format");
    if (watched.length > 1 || fields.get("isList")) body.watchAddresses = watched;
    else if (watched.length) body.watchAddress = watched[0];
    if (topics.length) body.topics = topics.map((position) => (position.length > 1 ? position : (position[0] ?? null)));
    for (const [key, value] of Object.entries(narrowingOf(event.target))) if (value !== null) body[key] = value;
    try {
      const created = await api("/webhooks", "POST", body);
      byId("secret").textContent = created.secret;
      byId("copy-secret").dataset.copy = created.secret;
      byId("secret-section").hidden = false;
      event.target.reset();
      await list();
      byId("secret-section").focus(); // which brings it into view
    } catch (error) {
      complain(error);
    }
  });
  function onSubmit(id, send) {
    byId(id).addEventListener("submit", async (event) => {
      event.preventDefault();
      complain(null);
      try {
        await send(event.target);
        await list();
      } catch (error) {
        complain(error);
      }
    });
  }

  onSubmit("change-form", async (fields) => {
    await api("/webhooks/" + chosen.id, "PATCH", narrowingOf(fields));
    byId("change-section").hidden = true;
  });
  onSubmit("addresses-form", async (fields) => {
    await api(`/webhooks/${chosen.id}/addresses`, "POST", {add: lines(fields.add.value), remove: lines(fields.remove.value)});
    fields.reset();
    await showAddresses(chosen);
  });
  if (form.owner.value) list().catch(complain);
})();
