{
    calls: [], now: null, codes: {}, count: 0, first: -1, other: 0, places: {},
    setup: function(config) {
        var options = typeof config === 'string' && config ? JSON.parse(config) : config;
        this.places = Object(options).places || {};
    },
    frame: function(path, key) {
        var code = this.codes[key], places = this.places[key] || "";
        if (code === undefined && this.count < MAX_CODES) {
            this.count++;
            code = this.codes[key] = {};
        }
        return {path: path, code: code, places: places, made: 0, pc: -1, at: -1, of: -1, start: 0,
            gas: 0, inner: 0};
    },
    add: function(now, gas) {
        if (now.pc < 0 || now.code === undefined) this.other += gas;
        else now.code[now.of] = (now.code[now.of] || 0) + gas;
    },
    expansion: function(log) {
        var offset = parseInt(log.stack.peek(0).toString(10), 10);
        var size = parseInt(log.stack.peek(1).toString(10), 10);
        var words = Math.ceil((offset + size) / 32), before = Math.ceil(log.memory.length() / 32);
        if (!size || words <= before) return 0;
        return 3 * (words - before) + Math.floor(words * words / 512)
            - Math.floor(before * before / 512);
    },
    step: function(log, db) {
        var gas = log.getGas(), now = this.now, code, pc, of;
        if (now === null) {
            this.first = gas;
            now = this.now = this.frame([], "");
        }
        of = now.of;
        if (now.pc < 0) now.start = gas;
        else if ((code = now.code) !== undefined)
            code[of] = (code[of] || 0) + now.gas - gas - now.inner;
        else this.other += now.gas - gas - now.inner;
        pc = now.pc = log.getPC();
        if (parseInt(now.places.charAt(pc >> 2), 16) >> (pc & 3) & 1) now.at = pc;
        now.of = now.at < 0 ? pc : now.at;
        now.gas = gas;
        now.inner = 0;
        if (this.calls.length === 0) {
            now.op = log.op.toNumber();
            now.end = now.op === REVERT || now.op === RETURN ? this.expansion(log) : 0;
        }
    },
    fault: function(log, db) {},
    enter: function(frame) {
        var outer = this.now, type = frame.getType();
        if (outer === null) outer = this.frame([], "");
        var path = outer.path.concat([outer.made++]);
        this.calls.push(outer);
        this.now = this.frame(path, type === "CREATE" || type === "CREATE2"
            ? path.join(" ") : toHex(frame.getTo()) + toHex(frame.getInput()).slice(2, 10));
    },
    exit: function(result) {
        var now = this.now, used = result.getGasUsed();
        this.add(now, used - (now.start - now.gas) - now.inner);
        this.now = this.calls.pop();
        this.now.inner += used;
    },
    result: function(context, db) {
        var now = this.now;
        if (now !== null && now.pc >= 0) {
            var all = context.error !== undefined && now.op !== REVERT;
            var created = context.type === "CREATE" && context.error === undefined;
            var deposit = created && context.output ? 200 * context.output.length : 0;
            this.add(now, (all ? now.gas : Math.min(now.end, now.gas) + deposit) - now.inner);
        }
        return {first: this.first, other: this.other, codes: this.codes};
    }
}
