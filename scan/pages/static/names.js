"use strict";
// The form on an address's page for a name and a note of the visitor's own; they stay in this browser.
(() => {
  const {ownNames, setOwnNames} = window.scan;
  const form = document.getElementById("own-name");
  const address = form.dataset.address.toLowerCase();
  const own = ownNames()[address] || {name: "", note: ""};
  form.elements.name.value = own.name;
  form.elements.note.value = own.note;
  form.parentElement.querySelector("summary output").textContent = own.name;

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const next = ownNames();
    const [name, note] = [form.elements.name.value.trim(), form.elements.note.value.trim()];
    if (name || note) next[address] = {name, note};
    else delete next[address];
    setOwnNames(next);
    form.parentElement.querySelector("summary output").textContent = name;
    form.querySelector("p output").textContent = "Saved in this browser.";
  });
})();
