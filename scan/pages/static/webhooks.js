"use strict";
// Webhooks of an owner through the API: list, create, test, deliveries, retry, delete.
(() => {
  const {base} = window.scan;
  const byId = (id) => document.getElementById(id);
  const form = byId("owner-form");

  function complain(error) {
    byId("message").textContent = error ? String(error.message || error) : "";
    byId("message").hidden = !error;
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
      button(webhook.active ? "Deactivate" : "Activate", async () => {
        await api(path, "PATCH", {active: !webhook.active});
        await list();
      }),
      " ",
      button("Delete", async () => {
        if (!confirm(`Delete the webhook to ${webhook.url}?`)) return;
        await api(path, "DELETE");
        byId("deliveries-section").hidden = true;
        await list();
      }),
    ];
    const url = element("span", webhook.url, {className: "long"});
    const watched = element("span", webhook.watchAddress, {className: "long"});
    return [url, watched, webhook.eventTypes.join(", "), state, String(webhook.failCount), actions];
  }

  async function list() {
    const {webhooks} = await api("/webhooks?owner=" + encodeURIComponent(form.owner.value.trim()));
    const names = ["URL", "Watches", "Events", "State", "Failures", "Actions"];
    byId("webhooks").replaceChildren(table(names, webhooks.map(rowOf), "This owner has no webhooks."));
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
      each.createdAt,
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
    if (fields.get("topic0") && !eventTypes.includes("log")) return complain("A first topic applies to contract events: select these, too.");
    const body = {ownerAddress: form.owner.value.trim(), url: fields.get("url"), eventTypes};
    if (fields.get("watchAddress")) body.watchAddress = fields.get("watchAddress");
    if (fields.get("topic0")) body.topics = [fields.get("topic0")];
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
  if (form.owner.value) list().catch(complain);
})();
