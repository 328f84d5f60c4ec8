"use strict";

const dark = matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const followTheme = () =>
  root.classList.toggle("dark-mode", root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
dark.addEventListener("change", followTheme);
new MutationObserver(followTheme).observe(root, { attributeFilter: ["data-theme"] });
followTheme();

// Operations that have all words, in the list or in Swagger UI.
const find = document.getElementById("find");
const show = () => {
  const words = find.querySelector("input").value.toLowerCase().split(/\s+/);
  let count = 0;
  for (const operation of document.querySelectorAll(".operations li, .opblock")) {
    const text = operation.querySelector(".opblock-summary")?.textContent ?? operation.textContent;
    operation.hidden = !words.every((word) => text.toLowerCase().includes(word));
    count += !operation.hidden;
  }
  for (const group of document.querySelectorAll(".operations section, .opblock-tag-section")) {
    group.hidden = !group.querySelector("li:not([hidden]), .opblock:not([hidden])");
  }
  find.querySelector("output").textContent = `${count} operation${count === 1 ? "" : "s"}`;
};
find.addEventListener("input", show);
find.hidden = false;

// An example's request as a command and as code, each with a button that copies it.
const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const base = location.origin + document.currentScript.dataset.base;
const asCode = (example) => {
  const [line, ...headers] = example.querySelector(".request").textContent.split("\n");
  const [method, path] = line.split(/ (.*)/);
  const body = example.querySelector(".body")?.textContent;
  const isForm = headers.some((header) => header.includes("urlencoded"));
  if (body && !isForm) headers.push("Content-Type: application/json");
  const compact = body && !isForm ? JSON.stringify(JSON.parse(body)) : body;
  const command = [
    `curl${method === "GET" ? "" : ` -X ${method}`} ${quoted(base + path)}`,
    ...headers.map((header) => `-H ${quoted(header)}`),
    ...(body ? [`-d ${quoted(compact)}`] : []),
  ];
  const options = [
    ...(method === "GET" ? [] : [`method: "${method}"`]),
    ...(headers.length ? [`headers: ${JSON.stringify(Object.fromEntries(headers.map((h) => h.split(": "))))}`] : []),
    ...(body ? [`body: ${isForm ? JSON.stringify(body) : `JSON.stringify(${compact})`}`] : []),
  ];
  const rest = options.length ? `, {\n  ${options.join(",\n  ")},\n}` : "";
  const code = `const response = await fetch(${JSON.stringify(base + path)}${rest});\nconsole.log(await response.text());`;
  return { curl: command.join(" \\\n  "), JavaScript: code };
};
const addCode = ({ target }) => {
  if (!target.matches?.(".example:not(:has(.code))")) return;
  const blocks = Object.entries(asCode(target)).flatMap(([name, text]) => {
    const block = Object.assign(document.createElement("pre"), { className: "code", textContent: text, tabIndex: 0 });
    block.setAttribute("role", "group");
    block.setAttribute("aria-label", name);
    const button = Object.assign(document.createElement("button"), { type: "button", className: "small", textContent: `Copy ${name}` });
    button.addEventListener("click", async () => {
      await (window.scan?.copyText ?? ((text) => navigator.clipboard.writeText(text)))(text);
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = `Copy ${name}`), 2000);
    });
    return [block, button];
  });
  target.querySelector("summary").after(...blocks);
};
document.addEventListener("toggle", addCode, true);

const adapt = ({ React, specSelectors }) => ({
  wrapComponents: {
    // Every operation accepts a key, for its higher limit. It has a padlock only if it may require
    // one: the document then has `security` of its own for it.
    OperationSummary: (Summary) => (props) => {
      const { operationProps } = props;
      const keys = ["paths", operationProps.get("path"), operationProps.get("method"), "security"];
      const security = specSelectors.specJson().getIn(keys);
      return React.createElement(Summary, {
        ...props,
        operationProps: operationProps.set("security", security),
      });
    },
    // A link within the button that opens the operation, which also sets the address.
    DeepLink: () => ({ text }) => React.createElement("span", null, text),
  },
});

// Names, levels of headings and focus that Swagger UI leaves out, and roles that it lacks or has wrong.
const ATTRIBUTES = [
  ["select#servers", "aria-label", "Server"],
  ["textarea.body-param__text", "aria-label", "Request body"],
  ["select.examples-select-element", "aria-label", "Example"],
  ["select[aria-label='']", "aria-label", "Media type"],
  [".information-container", "role", "region"],
  [".information-container", "aria-label", "About"],
  [".schemes-server-container", "role", "region"],
  [".schemes-server-container", "aria-label", "Servers"],
  ["h3.opblock-tag", "aria-level", "2"],
  [".opblock h4", "aria-level", "3"],
  [".models h4", "aria-level", "2"],
  [".opblock h5", "aria-level", "4"],
  ["table[role=region]", "role", "table"],
];
const complete = () => {
  for (const [selector, name, value] of ATTRIBUTES) {
    for (const element of document.querySelectorAll(selector)) {
      element.setAttribute(name, value);
    }
  }
  for (const element of document.querySelectorAll("pre:not([tabindex])")) {
    element.tabIndex = 0;
  }
};
new MutationObserver(complete).observe(document.getElementById("swagger-ui"), {
  childList: true,
  subtree: true,
});

const files = document.currentScript.dataset;
const start = () => {
  // Swagger UI has a main part of its own, of which a page has one.
  const main = document.querySelector("main");
  const other = Object.assign(document.createElement("div"), { id: main.id });
  main.replaceWith(other);
  other.append(...main.childNodes);
  window.ui = SwaggerUIBundle({
    url: files.document,
    dom_id: "#swagger-ui",
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [adapt],
    layout: "BaseLayout",
    validatorUrl: null,
    deepLinking: true,
    tryItOutEnabled: true,
    displayRequestDuration: true,
    syntaxHighlight: { theme: "tomorrow-night" },
    defaultModelsExpandDepth: 0,
    onComplete: () => {
      document.getElementById("status").textContent = "";
      show();
    },
  });
};

// An operation's link sets the address, by which Swagger UI opens it.
const load = () => {
  if (location.hash.length < 2 || document.getElementById("bundle")) return;
  document.getElementById("status").textContent = "Loading…";
  const styles = document.createElement("link");
  Object.assign(styles, { rel: "stylesheet", href: files.styles });
  document.querySelector("link[href*='docs.css']").before(styles);
  const bundle = document.createElement("script");
  Object.assign(bundle, { id: "bundle", src: files.bundle, onload: start });
  bundle.onerror = () => {
    bundle.remove();
    document.getElementById("status").textContent = "This could not be loaded. Try again.";
  };
  document.head.append(bundle);
};
addEventListener("hashchange", load);
load();
