
new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) sum += entry.value;
  }).observe({type: "layout-shift", buffered: true});
  requestAnimationFrame(() => setTimeout(() => resolve(sum), 50));
})
