window.ethereum = {request: async ({method, params}) => {
  if (method === "eth_requestAccounts") return [ACCOUNT];
  if (method !== "personal_sign") throw new Error("no " + method);
  window.toSign = params[0];
  return new Promise((resolve) => { window.signed = resolve; });
}};
window.confirm = () => true;
