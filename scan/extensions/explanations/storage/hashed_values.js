{
    known: {}, values: [],
    step: function(log, db) {
        if (log.op.toNumber() !== 32 || this.values.length >= MAX_VALUES) return;
        var start = parseInt(log.stack.peek(0).toString(10), 10);
        var size = parseInt(log.stack.peek(1).toString(10), 10);
        if (!(size > 32 && size <= MOST_BYTES && start + size <= log.memory.length())) return;
        var value = toHex(log.memory.slice(start, start + size));
        if (this.known[value]) return;
        this.known[value] = true;
        this.values.push(value);
    },
    fault: function(log, db) {},
    result: function(context, db) { return this.values; }
}
