// Logs decoded by ethers: {abi, logs: [{topics, data}]} on stdin, and the arguments of each log in JSON.
const { Interface, EventFragment } = require("ethers");

const plain = (type, value) => {
    if (value && value._isIndexed) return value.hash;
    if (type.baseType === "array") return [...value].map((item) => plain(type.arrayChildren, item));
    if (type.baseType === "tuple")
        return Object.fromEntries(type.components.map((part, n) => [part.name, plain(part, value[n])]));
    if (typeof value === "bigint") return value.toString();
    return type.baseType === "address" ? value.toLowerCase() : value;
};

const { abi, logs } = JSON.parse(require("fs").readFileSync(0));
const decode = ({ event, topics, data }) => {
    const fragment = EventFragment.from(abi.find((entry) => entry.name === event));
    const values = new Interface([fragment]).decodeEventLog(fragment, data, topics);
    return Object.fromEntries(fragment.inputs.map((input, n) => [input.name, plain(input, values[n])]));
};
const decoded = logs.map((log) => {
    try {
        return decode(log);
    } catch {
        return null; // it is no log of the event
    }
});
console.log(JSON.stringify(decoded));
