"use strict";
document.documentElement.classList.add("js");
const chains = [...document.querySelectorAll("#chains a")];

// The newest block of each chain, or its problem.
for (const link of chains) {
  const state = link.nextElementSibling;
  fetch(link.getAttribute("href") + "readyz").then((response) => response.json()).then((ready) => {
    state.textContent = ready.problem ?? `block ${ready.indexedBlock.toLocaleString("en")}`;
  }).catch(() => { state.textContent = "unavailable"; });
}

// What each chain's service finds, in the order of the chains; another search replaces it.
const results = document.getElementById("results");
const status = document.getElementById("status");
let searches = 0;

async function search(chain, query) {
  const base = chain.getAttribute("href");
  const response = await fetch(base + "api/v1/search?q=" + encodeURIComponent(query));
  const body = await response.json();
  if (!response.ok) throw new Error(`${chain.textContent}: ${body.error}`);
  return body.results.map((result) => {
    const item = document.createElement("li");
    const link = document.createElement("a");
    const name = document.createElement("bdi");
    link.href = base + "search?q=" + encodeURIComponent(result.value);
    name.textContent = result.name || result.symbol || result.value;
    link.append(name);
    const kind = Object.assign(document.createElement("span"), {className: "quiet", textContent: `${result.type}, ${chain.textContent}`});
    item.append(link, " ", kind);
    return item;
  });
}

document.querySelector("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const query = event.target.elements.q.value.trim();
  const number = ++searches;
  status.textContent = "Searching…";
  const responses = await Promise.allSettled(chains.map((chain) => search(chain, query)));
  if (number !== searches) return;
  const items = responses.flatMap((response) => response.value ?? []);
  const problems = responses.filter((response) => response.reason).map((response) => response.reason.message);
  results.replaceChildren(...items);
  results.hidden = items.length === 0;
  status.textContent = [`${items.length || "No"} result${items.length === 1 ? "" : "s"} on ${chains.length - problems.length} of ${chains.length} chains.`, ...problems].join(" ");
});
