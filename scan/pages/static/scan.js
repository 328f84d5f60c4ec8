"use strict";
// The theme, ages or exact times, buttons that copy, the watch list's stars, visitors' names for
// addresses, the search box, forms answered in place. Every page can be read without any of it.
// It runs before the page is parsed: what it changes is changed before it is painted.
(() => {
  const base = new URL("../..", document.currentScript.src).pathname.replace(/\/$/, ""); // above /static
  const root = document.documentElement;
  const UNITS = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
  const THEMES = ["system", "light", "dark"];
  const words = new Intl.RelativeTimeFormat("en", {numeric: "always", style: matchMedia("(max-width: 47.999rem)").matches ? "narrow" : "short"});

  // A browser may refuse its storage.
  function stored(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  }

  function store(name, text) {
    try {
      localStorage.setItem(name, text);
    } catch {
      // for this page alone then
    }
  }

  function setTheme(theme) {
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
    else delete root.dataset.theme;
    const button = document.querySelector("button.theme");
    if (button) button.title = `Theme: ${root.dataset.theme || "system"}`;
  }

  function nextTheme() {
    const theme = THEMES[(THEMES.indexOf(root.dataset.theme || "system") + 1) % THEMES.length];
    store("theme", theme);
    setTheme(theme);
    document.querySelector("button.theme").setAttribute("aria-label", `Theme: ${theme}`);
  }

  root.classList.add("js");
  setTheme(stored("theme"));
  const onPaper = matchMedia("print");
  let areExact = stored("times") === "exact";
  let inUtc = stored("zone") === "utc";

  function age(moment) {
    const seconds = Math.round((moment - Date.now()) / 1000);
    const [unit, length] = UNITS.find(([, length]) => Math.abs(seconds) >= length) || UNITS.at(-1);
    return words.format(Math.trunc(seconds / length), unit);
  }

  const utc = (time) => time.dateTime.replace("T", " ").replace("Z", " UTC");
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const minutesAhead = (moment) => -new Date(moment).getTimezoneOffset();

  // A time of the page in the visitor's time zone, `2026-01-31 17:30:00 UTC+5:30`, or in UTC.
  function local(time, moment) {
    const minutes = minutesAhead(moment);
    if (!minutes || onPaper.matches) return utc(time);
    const text = new Date(moment + minutes * 60000).toISOString().slice(0, 19).replace("T", " ");
    const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `${text} UTC${minutes < 0 ? "−" : "+"}${hours}${rest ? `:${String(rest).padStart(2, "0")}` : ""}`;
  }

  // In tables ages give way to exact times where the visitor chose so, and on paper everywhere.
  function showAges() {
    for (const time of document.querySelectorAll("time[datetime*=T]")) {
      const moment = Date.parse(time.dateTime);
      if (Number.isNaN(moment)) continue; // years beyond 9999
      const [exact, other] = inUtc ? [utc(time), local(time, moment)] : [local(time, moment), utc(time)];
      const both = exact === other ? exact : `${exact}, ${other}`;
      const isAge = time.dataset.age !== undefined && !onPaper.matches;
      const isExact = areExact && time.closest("td");
      const text = isAge ? (isExact ? exact.slice(0, 19) : age(moment)) : "minutes" in time.dataset ? exact.replace(/:\d\d UTC/, " UTC") : exact;
      time.title = isAge && !isExact ? both : exact === other ? age(moment) : isAge ? `${age(moment)}, ${both}` : other;
      if (time.textContent !== text) time.textContent = text;
    }
    for (const button of document.querySelectorAll("button.zone")) {
      button.hidden = !minutesAhead(Date.now());
      const text = inUtc ? `Show times in ${zone}` : "Show times in UTC";
      if (button.textContent !== text) button.textContent = text;
    }
    for (const button of document.querySelectorAll("button.ages")) {
      const text = !areExact ? "Age" : inUtc || !minutesAhead(Date.now()) ? "Time (UTC)" : "Time (local)";
      if (button.textContent !== text) button.textContent = text;
      button.title = areExact ? "Show ages" : "Show exact times";
    }
  }

  onPaper.addEventListener("change", showAges);

  function toggleAges() {
    areExact = !areExact;
    store("times", areExact ? "exact" : "age");
    showAges();
  }

  function toggleZone() {
    inUtc = !inUtc;
    store("zone", inUtc ? "utc" : "local");
    showAges();
  }

  async function copyText(text) {
    if (navigator.clipboard) return navigator.clipboard.writeText(text);
    const area = Object.assign(document.createElement("textarea"), {value: text}); // http, but for localhost
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }

  // For screen readers: the text of a status is read when it changes.
  function announce(text) {
    const status = document.getElementById("announced");
    status.textContent = "";
    setTimeout(() => (status.textContent = text), 50);
  }

  async function copyFrom(button) {
    await copyText(button.dataset.copy);
    button.classList.add("copied");
    announce("Copied");
    setTimeout(() => button.classList.remove("copied"), 2000);
  }

  // [{kind, address, name}], the newest first.
  function watched() {
    try {
      const list = JSON.parse(stored("watchlist") || "[]");
      return Array.isArray(list) ? list.filter((item) => /^0x[0-9a-fA-F]{40}$/.test(item?.address)) : [];
    } catch {
      return [];
    }
  }

  const isSame = (item, kind, address) => item.kind === kind && item.address.toLowerCase() === address.toLowerCase();

  function setWatched(kind, address, name, isWatched) {
    const others = watched().filter((item) => !isSame(item, kind, address));
    store("watchlist", JSON.stringify(isWatched ? [{kind, address, name}, ...others].slice(0, 100) : others));
  }

  function showStars() {
    for (const button of document.querySelectorAll("button[data-watch]")) {
      const {watch, address} = button.dataset;
      button.setAttribute("aria-pressed", String(watched().some((item) => isSame(item, watch, address))));
    }
  }

  function toggleStar(button) {
    const {watch, address, name} = button.dataset;
    setWatched(watch, address, name, button.getAttribute("aria-pressed") !== "true");
    showStars();
  }

  // {address in lower case: {name, note}}: what the visitor calls addresses, which is sent to nobody.
  function ownNames() {
    try {
      return JSON.parse(stored("names")) || {};
    } catch {
      return {};
    }
  }

  let names = ownNames();

  function setOwnNames(next) {
    names = next;
    store("names", JSON.stringify(next));
    for (const shown of document.querySelectorAll("a .mine")) shown.remove();
    showNames();
  }

  function showNames() {
    if (!Object.keys(names).length) return;
    for (const link of document.querySelectorAll('a[href*="/address/0x"]:not(:has(.mine)):not(.tabs a):not(.pager a)')) {
      const address = /\/address\/(0x[0-9a-f]{40})$/.exec(link.getAttribute("href"))?.[1];
      const own = address && Object.hasOwn(names, address) ? names[address] : null;
      if (!own?.name) continue;
      link.prepend(Object.assign(document.createElement("bdi"), {className: "mine", textContent: own.name, title: own.note}));
    }
  }

  function showPage() {
    showAges();
    showNames();
  }

  function onClick(event) {
    // A touch has no pointer to rest on an age.
    if (event.target.closest("button.ages, td:not(:has(a)) > time[data-age]")) toggleAges();
    if (event.target.closest("time[datetime*=T]:not([data-age])")) toggleZone();
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.copy !== undefined) copyFrom(button);
    else if (button.dataset.watch) toggleStar(button);
    else if (button.classList.contains("theme")) nextTheme();
    else if (button.classList.contains("zone")) toggleZone();
  }

  // The search box as a combobox: a list of links below it, by arrow keys, Enter and Escape.
  function prepareSearch(input) {
    const form = input.form;
    let list = null;
    let current = -1;
    let timer = 0;
    let request = null;

    const options = () => (list ? [...list.querySelectorAll("[role=option]")] : []);

    function close() {
      clearTimeout(timer);
      request?.abort();
      list?.remove();
      list = null;
      current = -1;
      input.setAttribute("aria-expanded", "false");
      input.removeAttribute("aria-activedescendant");
    }

    function choose(index) {
      const all = options();
      if (!all.length) return;
      all[current]?.setAttribute("aria-selected", "false");
      current = (index + all.length) % all.length;
      all[current].setAttribute("aria-selected", "true");
      all[current].scrollIntoView({block: "nearest"});
      input.setAttribute("aria-activedescendant", all[current].id);
    }

    async function suggest() {
      const text = input.value.trim();
      request?.abort();
      request = new AbortController();
      try {
        const path = `${base}/search/suggestions?q=${encodeURIComponent(text)}`;
        const response = await fetch(path, {signal: request.signal});
        if (!response.ok || text !== input.value.trim() || document.activeElement !== input) return;
        const page = new DOMParser().parseFromString(await response.text(), "text/html");
        const next = page.getElementById("suggestions");
        close();
        if (!next?.querySelector("[role=option]")) return;
        list = document.importNode(next, true);
        list.addEventListener("pointerdown", (event) => event.preventDefault()); // the box keeps the focus
        form.append(list);
        input.setAttribute("aria-expanded", "true");
      } catch {
        // typing went on, or there is no server
      }
    }

    input.setAttribute("role", "combobox");
    input.setAttribute("aria-autocomplete", "list");
    input.setAttribute("aria-controls", "suggestions");
    input.setAttribute("aria-expanded", "false");
    input.addEventListener("input", () => {
      clearTimeout(timer);
      if (input.value.trim().length < 2) close();
      else timer = setTimeout(suggest, 200);
    });
    input.addEventListener("blur", close);
    input.addEventListener("keydown", (event) => {
      if (!list) return;
      if (event.key === "ArrowDown") choose(current + 1);
      else if (event.key === "ArrowUp") choose(current < 0 ? -1 : current - 1);
      else if (event.key === "Enter" && current >= 0) location.assign(options()[current].href);
      else if (event.key === "Escape") close();
      else return;
      event.preventDefault();
    });
  }

  // "/" goes to the search box, unless the visitor turned that off in the menu (WCAG 2.1.4).
  function prepareShortcut(input, button) {
    let isOn = stored("shortcut") !== "off";

    function show() {
      button.textContent = `Key “/” for search: ${isOn ? "on" : "off"}`;
      input.ariaKeyShortcuts = isOn ? "/" : null;
    }

    button.addEventListener("click", () => {
      isOn = !isOn;
      store("shortcut", isOn ? "on" : "off");
      show();
    });
    document.addEventListener("keydown", (event) => {
      const isTyping = event.target.closest("input, textarea, select, [contenteditable]");
      const isShortcut = isOn && event.key === "/" && !(event.ctrlKey || event.metaKey || event.altKey);
      if (!isShortcut || isTyping) return;
      event.preventDefault();
      input.focus();
    });
    show();
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
      const answer = page.querySelector("details.function[open] output") || page.querySelector(".problem:not([hidden])");
      output.replaceChildren(...(answer ? document.importNode(answer, true).childNodes : []));
    } catch {
      output.textContent = "The server cannot be reached.";
    }
    button.disabled = false;
  }

  // The other scripts of our pages.
  window.scan = {base, copyText, showPage, watched, setWatched, ownNames, setOwnNames};
  // Before each piece that has been parsed is painted.
  const parsing = new MutationObserver(showPage);
  parsing.observe(root, {childList: true, subtree: true});
  document.addEventListener("click", onClick);
  // Opens a list at the row that a link names, once the row has moved to another page of it.
  function openAtRow() {
    const row = location.hash.slice(1);
    const [, kind] = row.match(/^(tx|transfer|trade|internal)(?:-\d+){0,2}-[0-9a-f]{64}$/) ?? [];
    const url = new URL(location.href);
    if (!kind || url.searchParams.has("row") || document.getElementById(row)) return;
    if (!document.querySelector(`#list[data-row-links] ~ .table tr[id^="${kind}-"]`) || !document.querySelector("#pages a")) return;
    for (const name of ["page", "p", "cursor"]) url.searchParams.delete(name);
    url.searchParams.set("row", row);
    location.replace(url);
  }

  document.addEventListener("DOMContentLoaded", () => {
    openAtRow();
    for (const part of document.querySelectorAll("[data-origin]")) part.textContent = location.origin + base;
    parsing.disconnect();
    setTheme(stored("theme"));
    showPage();
    showStars();
    setInterval(showAges, 10000);
    const search = document.querySelector(".search input");
    if (search) {
      prepareSearch(search);
      prepareShortcut(search, document.getElementById("shortcut"));
    }
    for (const form of document.querySelectorAll("form[data-enhance]")) form.addEventListener("submit", answerInPlace);
  });
  addEventListener("storage", (event) => {
    if (event.key === "theme") setTheme(event.newValue);
    if (event.key === "watchlist") showStars();
    if (event.key === "names") names = ownNames();
  });
})();
