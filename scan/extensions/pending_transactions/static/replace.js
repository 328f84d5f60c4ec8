"use strict";
// Replaces a pending transaction by one of the same nonce: the server wrote it, its sender's wallet signs it.
(() => {
  const section = document.getElementById("replace");
  const wallets = walletSend.choose(section, "button");
  const output = section.querySelector("output");
  const {owner} = section.dataset;

  function replace(button) {
    const {to, data, value, ...fields} = JSON.parse(button.dataset.call);
    function callOf(from) {
      if (from.toLowerCase() !== owner) throw new Error(`The wallet's account is ${from}: only ${owner} can replace its transactions.`);
      return {to, data, value, fields};
    }
    const words = () => `${button.textContent}: nonce ${BigInt(fields.nonce)}.`;
    return walletSend.press(button, output, () => walletSend.send(section, wallets, output, callOf, words));
  }

  for (const button of section.querySelectorAll("button")) button.addEventListener("click", () => replace(button));
})();
