"use strict";
// Ages beside exact times, buttons that copy, the head as it moves, forms answered in place.
// Every page can be read without any of it.
(() => {
  const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, ""); // above /static
  const UNITS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const LIVE_EVERY_MS = 3000;
  const words = new Intl.RelativeTimeFormat("en", {numeric: "always", style: "short"});

  function age(moment) {
    const seconds = Math.round((moment - Date.now()) / 1000);
    const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) || UNITS.at(-1);
    return words.format(Math.trunc(seconds / length), unit);
  }

  function showAges() {
    for (const time of document.querySelectorAll("time[data-age]")) {
      const moment = Date.parse(time.dateTime);
      if (Number.isNaN(moment)) continue; // years beyond 9999
      time.title ||= time.textContent;
      time.textContent = age(moment);
    }
  }

  function prepareCopying(root) {
    for (const button of root.querySelectorAll("button[data-copy]")) {
      button.hidden = !navigator.clipboard;
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(button.dataset.copy);
        button.textContent = "Copied";
      });
    }
  }

  function replaceLive(html) {
    const live = document.getElementById("live");
    const next = new DOMParser().parseFromString(html, "text/html").getElementById("live");
    if (!next) return;
    const known = new Set([...live.querySelectorAll("[data-key]")].map((row) => row.dataset.key));
    for (const row of next.querySelectorAll("[data-key]")) {
      if (!known.has(row.dataset.key)) row.classList.add("fresh");
    }
    live.replaceWith(next);
    showAges();
  }

  function show(id, value, text) {
    const place = document.getElementById(id);
    place.hidden = !value;
    (place.querySelector("span") || place).textContent = text;
  }

  async function showStatus() {
    const response = await fetch(base + "/readyz");
    const status = await response.json();
    show("problem", status.problem, status.problem);
    show("lag", status.lagBlocks, (status.lagBlocks || 0).toLocaleString("en"));
  }

  // The browser sends If-None-Match by itself: nothing new costs the server next to nothing.
  async function follow() {
    let wait = LIVE_EVERY_MS;
    try {
      if (!document.hidden) {
        const focused = document.getElementById("live").contains(document.activeElement);
        const response = await fetch(base + "/live", {cache: "no-cache"});
        if (response.ok && !focused) replaceLive(await response.text());
        wait = Math.max(wait, 1000 * (response.headers.get("Retry-After") || 0));
        await showStatus();
      }
    } catch {
      wait = 5 * LIVE_EVERY_MS;
    }
    setTimeout(follow, wait);
  }

  async function answerInPlace(event) {
    event.preventDefault();
    const form = event.target;
    const button = form.querySelector("button");
    const output = form.querySelector("output");
    button.disabled = true;
    try {
      const response = await fetch(form.action, {method: "POST", body: new FormData(form)});
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const found = page.querySelector("details.function[open] output") || page.querySelector(".problem:not([hidden])");
      output.replaceChildren(...(found ? document.importNode(found, true).childNodes : []));
    } catch {
      output.textContent = "The server cannot be reached.";
    }
    button.disabled = false;
  }

  showAges();
  setInterval(showAges, 10000);
  prepareCopying(document);
  for (const form of document.querySelectorAll("form[data-enhance]")) form.addEventListener("submit", answerInPlace);
  if (document.getElementById("live")) setTimeout(follow, LIVE_EVERY_MS);
})();
