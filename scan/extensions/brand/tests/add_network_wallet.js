window.ethereum = {request: async (asked) => {
  window.added = asked;
  if (window.refuses) throw {code: 4001};
  return null;
}};
