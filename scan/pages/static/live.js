"use strict";
// The head as it moves on the home page, and a pending transaction until it is mined, replaced or dropped.
(() => {
  const EVERY_MS = 3000;
  const pending = document.getElementById("pending");
  const hasPointer = matchMedia("(hover: hover)");

  function replaceLive(html) {
    const live = document.getElementById("live");
    const next = new DOMParser().parseFromString(html, "text/html").getElementById("live");
    if (!next) return;
    const known = new Set([...live.querySelectorAll("[data-key]")].map((row) => row.dataset.key));
    for (const row of next.querySelectorAll("[data-key]")) {
      if (!known.has(row.dataset.key)) row.classList.add("fresh");
    }
    live.replaceWith(next);
    scan.showPage();
  }

  function showMessage(id, value, text) {
    const part = document.getElementById(id);
    part.hidden = !value;
    (part.querySelector("span") || part).textContent = text;
  }

  async function showStatus() {
    const response = await fetch(scan.base + "/readyz");
    const status = await response.json();
    showMessage("problem", status.problem, status.problem);
    showMessage("lag", status.lagBlocks, (status.lagBlocks || 0).toLocaleString("en"));
  }

  // The browser sends If-None-Match by itself: nothing new costs the server next to nothing.
  async function follow() {
    let wait = EVERY_MS;
    try {
      if (!document.hidden) {
        const live = document.getElementById("live");
        // Rows do not move while a pointer is on them: it would click another one.
        const isInUse = live.contains(document.activeElement) || (hasPointer.matches && live.querySelector(".pair:hover"));
        const response = await fetch(scan.base + "/live", {cache: "no-cache"});
        if (response.ok && !isInUse) replaceLive(await response.text());
        wait = Math.max(wait, 1000 * (response.headers.get("Retry-After") || 0));
        await showStatus();
      }
    } catch {
      wait = 5 * EVERY_MS;
    }
    setTimeout(follow, wait);
  }

  // The page of a transaction until that is indexed or replaced; where the node fails (503), it stays as it is.
  async function awaitBlock(wait) {
    try {
      if (!document.hidden) {
        const response = await fetch(location.href, {cache: "no-cache"});
        const next = new DOMParser().parseFromString(await response.text(), "text/html").getElementById("pending");
        if (response.ok && !next) return location.replace(location.pathname); // indexed
        if (response.status < 500 && next && next.dataset.state !== pending.dataset.state) return location.reload();
      }
    } catch {
      // the next one may succeed
    }
    setTimeout(awaitBlock, wait, Math.min(1.2 * wait, 30000));
  }

  if (document.getElementById("live")) setTimeout(follow, EVERY_MS);
  if (pending) {
    // With its sender and nonce, by which the page tells what became of it once the node no longer has it.
    history.replaceState(null, "", document.getElementById("check").href);
    if (pending.dataset.state !== "replaced") setTimeout(awaitBlock, EVERY_MS, EVERY_MS);
  }
})();
