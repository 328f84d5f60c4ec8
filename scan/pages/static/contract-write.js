"use strict";
// Amounts with units, as in_base_units() of scan/ethereum/token_metadata.py reads them.
const amountUnits = {
  // The base units as text, or null for text that is no amount with a unit.
  parse(given, units) {
    const text = given.replace(/^ +| +$/g, "");
    const known = Object.keys(units).filter((name) => units[name] !== null);
    if (/^-?[0-9]{1,78}\.[0-9]{1,78}$/.test(text)) {
      const example = known.find((name) => units[name]);
      throw new Error(`${text} has no unit. Write one, such as ${text} ${example}, or a whole number.`);
    }
    const amount = /^(-?)([0-9]{1,78})(?:\.([0-9]{1,78}))? +([^ ]{1,100})$/u.exec(text);
    if (!amount) return null;
    const [, sign, whole, fraction = "", unit] = amount;
    if (!Object.hasOwn(units, unit)) {
      throw new Error(`Unknown unit ${unit}. Known units: ${known.join(", ")}.`);
    }
    const decimals = units[unit];
    if (decimals === null) throw new Error(`The unit ${unit} is ambiguous here: several tokens have this symbol.`);
    if (fraction.length > decimals) throw new Error(`${unit} has ${decimals} decimals, not ${fraction.length}.`);
    return BigInt(sign + whole + fraction.padEnd(decimals, "0")).toString();
  },

  // JSON text with the amounts in it as base units, as in_base_units_within() of
  // scan/extensions/contract_details/contract_functions.py has them. Integers become text, which keeps all their digits.
  within(text, shape, units) {
    const exact = text.replace(/"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/g, (token) => (/^-?[0-9]+$/.test(token) ? `"${token}"` : token));
    const value = JSON.parse(exact);
    const converted = JSON.stringify(amountUnits.convert(value, shape, units));
    return converted === JSON.stringify(value) ? text : converted;
  },

  convert(value, shape, units) {
    if (shape === "integer" && typeof value === "string") return amountUnits.parse(value, units) ?? value;
    if (!shape || typeof value !== "object" || value === null) return value;
    const shapeAt = (key) => {
      if (!Array.isArray(shape)) return Array.isArray(value) ? shape.items : null;
      return Array.isArray(value) ? shape[key]?.[1] : shape.findLast(([label]) => label === key)?.[1];
    };
    const entries = Object.entries(value).map(([key, item]) => [key, amountUnits.convert(item, shapeAt(key), units)]);
    return Array.isArray(value) ? entries.map(([, item]) => item) : Object.fromEntries(entries);
  },
};

// Writing to a contract: the server encodes the call, the visitor's own wallet signs and sends it.
(() => {
  const section = document.getElementById("write");
  if (!section) return;
  const {address, symbol} = section.dataset;
  const units = JSON.parse(section.dataset.units);
  const coinUnits = {[symbol]: units.ether, ether: units.ether, gwei: units.gwei, wei: units.wei};
  const wallets = walletSend.choose(section, "form.write button:not(.try)");

  // As JSON text: a number of many digits stays whole, which it would not as a JavaScript number.
  function argument(input) {
    const text = input.value.trim();
    if ("integer" in input.dataset) return JSON.stringify(amountUnits.parse(input.value, units) ?? input.value);
    if (!("json" in input.dataset)) return JSON.stringify(input.value);
    try {
      JSON.parse(text);
    } catch {
      throw new Error(`Not valid JSON: ${text.slice(0, 100) || "nothing"}`);
    }
    return amountUnits.within(text, JSON.parse(input.dataset.json), units);
  }

  // What is sent in place of an amount that was written with its unit; null for all else.
  function sent(input) {
    if ("integer" in input.dataset) return amountUnits.parse(input.value, units);
    const text = input.value.trim();
    const converted = text ? argument(input) : text;
    return converted === text ? null : converted;
  }

  const labelOf = (input) => input.labels[0].firstChild.textContent.trim();

  // An error of the API, with the field's label in place of `args[0]`.
  function withLabel(message, inputs) {
    return message.replace(/^args\[([0-9]+)\]/, (name, position) => (inputs[position] ? labelOf(inputs[position]) : name));
  }

  // The value to send: coins where no unit is given.
  function wei(text) {
    const trimmed = text.trim() || "0";
    const amount = amountUnits.parse(/^[0-9.]+$/.test(trimmed) ? `${trimmed} ether` : trimmed, coinUnits);
    if (amount === null || amount.startsWith("-")) throw new Error("The value to send is not an amount.");
    return amount;
  }

  // What a form will send, in words: each amount as the number that the contract gets.
  function words(form) {
    const amounts = [...form.querySelectorAll("input[data-integer], input[data-json]")].flatMap((input) => {
      const text = sent(input);
      return text === null ? [] : [`${labelOf(input)} = ${text} (${input.value.trim()})`];
    });
    const value = form.elements.value ? wei(form.elements.value.value) : "0";
    if (value !== "0") amounts.push(`${coins(value)} ${symbol} (${value} wei) sent with the call`);
    return amounts.length ? `Calls ${form.dataset.function.split("(")[0]} with ${amounts.join(", ")}.` : "";
  }

  function coins(wei) {
    const digits = wei.padStart(units.ether + 1, "0");
    return `${digits.slice(0, -units.ether)}.${digits.slice(-units.ether)}`.replace(/\.?0+$/, "");
  }

  function showWords(event) {
    const form = event.currentTarget;
    const shown = form.querySelector(".words");
    try {
      shown.textContent = words(form);
    } catch (error) {
      shown.textContent = error.message;
    }
  }

  // With an account the call is tried by the server first, as that account's.
  async function encode(form, from) {
    const inputs = [...form.querySelectorAll("input[name=argument]")];
    const value = form.elements.value ? wei(form.elements.value.value) : "0";
    const body = `{"functionName":${JSON.stringify(form.dataset.function)},"args":[${inputs.map(argument).join(",")}],"value":"${value}"${from ? `,"from":"${from}"` : ""}}`;
    const headers = {"Content-Type": "application/json"};
    const response = await fetch(`${walletSend.base}/api/v1/contracts/${address}/encode`, {method: "POST", headers, body});
    const call = await response.json();
    if (!response.ok) throw new Error(withLabel(call.error, inputs));
    if (call.to !== address) throw new Error("The server encoded a call of another contract.");
    return call;
  }

  function onSend(event) {
    event.preventDefault();
    const form = event.target;
    const output = form.querySelector("output");
    const sending = () => walletSend.send(section, wallets, output, (from) => encode(form, from), () => words(form));
    walletSend.press(form.querySelector("button"), output, sending);
  }

  // Opens the simulation of the call, by the wallet's account where one is connected already.
  function onTry(event) {
    const {form} = event.currentTarget;
    walletSend.press(event.currentTarget, form.querySelector("output"), async () => {
      const [call, from] = await Promise.all([encode(form, ""), walletSend.connected(wallets)]);
      const query = new URLSearchParams({...(from && {from}), to: call.to, data: call.data, value: coins(call.value)});
      location.assign(`${walletSend.base}/simulate?${query}`);
    });
  }

  for (const form of section.querySelectorAll("form.write")) {
    form.addEventListener("submit", onSend);
    form.querySelector(".try")?.addEventListener("click", onTry);
    form.addEventListener("input", showWords);
  }
})();
