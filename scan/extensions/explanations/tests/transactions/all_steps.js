{
    steps: [],
    add: function(log, error) {
        var step = {pc: log.getPC(), op: log.op.toString(), depth: log.getDepth()};
        if (error) step.error = error;
        this.steps.push(step);
    },
    step: function(log) { this.add(log, null); },
    fault: function(log) { this.add(log, "failed"); },
    result: function() { return {structLogs: this.steps}; }
}
