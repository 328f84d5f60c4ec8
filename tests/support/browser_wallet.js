window.asked = [];
const provider = {request: (request) => new Promise((resolve, reject) => {
  window.asked.push({...request, resolve, reject});
})};
const info = {uuid: "UUID", name: "<b>Stub</b>", icon: "data:image/svg+xml,<svg/>", rdns: "stub"};
const announce = () => window.dispatchEvent(
  new CustomEvent("eip6963:announceProvider", {detail: Object.freeze({info, provider})}));
if (location.pathname.startsWith("/address/")) {
  window.addEventListener("eip6963:requestProvider", announce);
}
