const CURVE_COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
const curveColour = (number) => CURVE_COLOURS[number % CURVE_COLOURS.length];
const MEASURES = {
  valid_accuracy: "validation accuracy", valid_score: "validation score", train_loss: "training loss",
};
function measureName(measure) {
  const metric = measure === "valid_score" ? data.curves.map((curve) => curve.metric).find(Boolean) : null;
  return metric ? `${metric}, validation` : MEASURES[measure];
}

function addCurves() {
  if (!data.curves.length) return;
  const known = Object.keys(MEASURES).filter((measure) => data.curves.some((curve) => curve.measures[measure]));
  const charts = known.map((measure) => html("figure", { style: "margin:0" },
    html("figcaption.note", {}, `${measureName(measure)} after each epoch`), drawChart(measure)));
  const trainings = (count) => `${count} ${count === 1 ? "training" : "trainings"}`;
  const names = legend(data.curves.map((curve, i) => [curveColour(i), `${curve.name} (${trainings(curve.runs)})`]));
  const lead = "Lines are means over the trainings still running at an epoch; bands are one standard deviation.";
  addSection("learning", "Learning curves", lead, html("div.charts", {}, ...charts), names);
}
function drawChart(measure) {
  const width = 460, height = 250, left = 44, bottom = 30, top = 10, right = 10;
  const series = data.curves.map((curve) => curve.measures[measure]);
  const known = series.filter(Boolean), isShare = measure === "valid_accuracy";
  const lastEpoch = Math.max(...known.map((s) => s.epoch[s.epoch.length - 1]), 2);
  const highest = Math.max(...known.flatMap((s) => s.mean.map((mean, i) => mean + s.sd[i])));
  const smallest = Math.min(...known.flatMap((s) => s.mean.map((mean, i) => mean - s.sd[i])));
  const lowest = measure === "valid_score" ? smallest : Math.max(0, smallest);
  const limit = isShare ? Math.min(1, highest) : highest;
  const isFlat = limit - lowest < 1e-9;
  const step = roundStep((isFlat ? Math.abs(limit) || 1 : limit - lowest) / 4);
  const below = Math.floor(lowest / step + 1e-9) * step, above = Math.ceil(limit / step - 1e-9) * step;
  const low = below === above && below ? below - step : below, high = Math.max(above, low + step);
  const span = high - low;
  const x = (epoch) => left + ((epoch - 1) / (lastEpoch - 1)) * (width - left - right);
  const y = (value) => {
    const clipped = Math.min(Math.max(value, low), high);
    return height - bottom - ((clipped - low) / span) * (height - top - bottom);
  };
  const chart = svg("svg", {
    viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${measureName(measure)} over ${lastEpoch} epochs`,
  });
  for (let tick = 0; tick <= Math.round(span / step); tick++) {
    const value = low + tick * step;
    const text = isShare ? percent(value, step < 0.01 ? 1 : 0) : String(+value.toPrecision(3));
    chart.append(svg("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, text));
  }
  for (const epoch of new Set([1, Math.round((lastEpoch + 1) / 2), lastEpoch])) {
    const anchor = epoch === 1 ? "start" : epoch === lastEpoch ? "end" : "middle";
    chart.append(svg("text", { class: "tick", x: x(epoch), y: height - 10, "text-anchor": anchor }, `epoch ${epoch}`));
  }
  series.forEach((s, number) => {
    if (!s) return;
    const point = (epoch, value) => `${x(epoch).toFixed(1)},${y(value).toFixed(1)}`;
    const line = (offset) => s.epoch.map((epoch, i) => point(epoch, s.mean[i] + offset * s.sd[i]));
    const band = [...line(1), ...line(-1).reverse()].join(" "), colour = curveColour(number);
    chart.append(svg("polygon", { points: band, fill: colour, "fill-opacity": 0.14 }),
      svg("polyline", { points: line(0).join(" "), fill: "none", stroke: colour, "stroke-width": 1.8 }));
  });
  return chart;
}
// Rounds up to 1, 2 or 5 times a power of ten.
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 5, 10].find((factor) => factor * power >= value * 0.999) * power;
}
