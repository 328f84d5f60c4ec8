{
    steps: [],
    step: function(log) {
        var step = {pc: log.getPC(), op: log.op.toString(), depth: log.getDepth()};
        step.gas = log.getGas(); step.gasCost = 0;
        this.steps.push(step);
    },
    fault: function(log) {
        var last = this.steps[this.steps.length - 1];
        if (last.op !== "REVERT") last.error = "failed";
    },
    result: function() { return {structLogs: this.steps}; }
}
