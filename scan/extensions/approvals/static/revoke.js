"use strict";
// Revokes approvals of an owner: the server wrote the calls, the owner's wallet signs them.
(() => {
  const section = document.getElementById("approvals");
  if (!section) return;
  const wallets = walletSend.choose(section, "button.revoke, button.revoke-all");
  const {owner} = section.dataset;

  function revoke(button) {
    const {to, data} = button.dataset;
    const output = button.nextElementSibling;
    function call(from) {
      if (from.toLowerCase() !== owner) throw new Error(`The wallet's account is ${from}: only ${owner} can revoke its approvals.`);
      return {to, data};
    }
    return walletSend.press(button, output, () => walletSend.send(section, wallets, output, call, () => `The call of ${to}: ${data}`));
  }

  async function revokeAll(event) {
    const all = event.currentTarget;
    all.disabled = true;
    // Any contract can say that somebody approved something, to have its code called by their wallet.
    for (const button of section.querySelectorAll("button.revoke:not([data-foreign])")) {
      if (!(await revoke(button))) break;
    }
    all.disabled = false;
  }

  for (const button of section.querySelectorAll("button.revoke")) button.addEventListener("click", () => revoke(button));
  section.querySelector("button.revoke-all").addEventListener("click", revokeAll);
})();
