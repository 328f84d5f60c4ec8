{
    calls: [], now: {path: [], inner: 0, steps: [], count: 0, fault: false}, failed: [],
    end: function(call) {
        if (this.failed.length >= MAX_CALLS) return;
        var last = call.count % STEPS;
        this.failed.push([call.path, call.count > STEPS
            ? call.steps.slice(last).concat(call.steps.slice(0, last)) : call.steps]);
    },
    step: function(log, db) { var now = this.now; now.steps[now.count++ % STEPS] = log.getPC(); },
    fault: function(log, db) { this.step(log, db); this.now.fault = true; },
    enter: function(frame) {
        var outer = this.now;
        this.calls.push(outer);
        var path = outer.path.concat([outer.inner++]);
        this.now = {path: path, inner: 0, steps: [], count: 0, fault: false};
    },
    exit: function(result) {
        if (result.getError() !== undefined || this.now.fault) this.end(this.now);
        this.now = this.calls.pop();
    },
    result: function(context, db) {
        if (context.error !== undefined) this.end(this.now);
        return this.failed;
    }
}
