function section(id, title, lead, ...children) {
  const part = make("section", { id }, make("h2", {}, title), lead ? make("p.lead", {}, lead) : null, ...children);
  document.getElementById("main").append(part);
  document.querySelector("nav").append(make("a", { href: `#${id}` }, title));
  return part;
}
function rows(headings, lines) {
  const numeric = (place) => (headings[place].num ? "num" : null);
  const head = make("tr", {}, ...headings.map((h, place) => make("th", { scope: "col", class: numeric(place) }, h.name)));
  const body = lines.map((line) => make("tr", {}, ...line.map((cell, place) => make("td", { class: numeric(place) }, cell))));
  return make("div.scroll", {}, make("table", {}, make("thead", {}, head), make("tbody", {}, ...body)));
}
const points = (value, sign = "") => (value === null ? "–" : (value > 0 ? sign : "") + value.toFixed(2));
const chance = (p) => (p === null ? "–" : p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, ""));

function verdict() {
  const found = data.comparison;
  if (!found) return;
  const result = (r) => (r.mean === null ? "–" : `${r.mean.toFixed(2)} (${r.sd === null ? "–" : r.sd.toFixed(2)})`);
  const paper = (p) => (p ? `${p.mean.toFixed(2)} (${p.std.toFixed(2)})${p.significant ? "*" : ""}` : "–");
  const sentences = found.cells.map((cell) => make("p.verdict", {}, cell.verdict.charAt(0).toUpperCase() + cell.verdict.slice(1),
    make("small", {}, `${cell.dataset}, ${cell.arch}, ${cell.aggr}, K = ${cell.num_positions}`)));
  const headings = [["dataset"], ["model"], ["aggregation"], ["K", 1], ["global readout", 1], ["SSRead", 1], ["difference", 1], ["95 % interval", 1], ["p", 1], ["corrected p", 1], ["paper, global", 1], ["paper, SSRead", 1]].map(([name, num]) => ({ name, num }));
  const lines = found.cells.map((c) => [c.dataset, c.arch, c.aggr, String(c.num_positions), result(c.global), result(c.ssread), points(c.difference, "+"),
    c.interval[0] === null ? "–" : `${points(c.interval[0])} to ${points(c.interval[1])}`, chance(c.p), chance(c.corrected_p), paper(c.paper_global), paper(c.paper_ssread)]);
  section("verdict", "Verdict", null, ...sentences, rows(headings, lines), ...found.notes.map((text) => make("p.note", {}, text)));
}

const LINES = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9"];
function curves() {
  if (!data.curves.length) return;
  const names = { valid_accuracy: "validation accuracy", train_loss: "training loss" };
  const charts = Object.keys(names).filter((measure) => data.curves.some((c) => c.measures[measure]))
    .map((measure) => make("figure", { style: "margin:0" }, make("figcaption.note", {}, `${names[measure]} after every pass`), chart(measure, names[measure])));
  const key = make("ul.key", {}, ...data.curves.map((curve, number) => make("li", {}, make("i", { style: `background:${LINES[number % 6]}` }), `${curve.name} (${curve.runs} ${curve.runs === 1 ? "training" : "trainings"})`)));
  section("learning", "Learning", "The line is the mean, the band one standard deviation over the trainings that were still going on.", make("div.charts", {}, ...charts), key);
}
function chart(measure, name) {
  const width = 460, height = 250, left = 44, bottom = 30, top = 10, right = 10;
  const series = data.curves.map((c) => c.measures[measure]).filter(Boolean);
  const reach = Math.max(...series.map((s) => s.pass[s.pass.length - 1]), 2);
  const high = Math.max(...series.flatMap((s) => s.mean.map((m, i) => m + s.sd[i]))), low = Math.min(...series.flatMap((s) => s.mean.map((m, i) => m - s.sd[i])));
  const step = roundStep((Math.min(high, measure === "valid_accuracy" ? 1 : high) - Math.max(0, low)) / 4);
  const ends = [Math.floor(Math.max(0, low) / step + 1e-9) * step, Math.ceil((measure === "valid_accuracy" ? Math.min(1, high) : high) / step - 1e-9) * step];
  const span = ends[1] - ends[0] || 1;
  const x = (pass) => left + ((pass - 1) / (reach - 1)) * (width - left - right);
  const y = (value) => height - bottom - ((Math.min(Math.max(value, ends[0]), ends[1]) - ends[0]) / span) * (height - top - bottom);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${name} over ${reach} passes` });
  for (let tick = 0; tick <= Math.round(span / step); tick++) {
    const value = ends[0] + tick * step;
    svg.append(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      draw("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, measure === "valid_accuracy" ? percent(value, step < 0.01 ? 1 : 0) : String(+value.toPrecision(3))));
  }
  for (const pass of [1, Math.round((reach + 1) / 2), reach])
    svg.append(draw("text", { class: "tick", x: x(pass), y: height - 10, "text-anchor": pass === 1 ? "start" : pass === reach ? "end" : "middle" }, `pass ${pass}`));
  data.curves.forEach((curve, number) => {
    const s = curve.measures[measure];
    if (!s) return;
    const upper = s.pass.map((p, i) => `${x(p).toFixed(1)},${y(s.mean[i] + s.sd[i]).toFixed(1)}`);
    const lower = s.pass.map((p, i) => `${x(p).toFixed(1)},${y(s.mean[i] - s.sd[i]).toFixed(1)}`).reverse();
    const colour = LINES[number % 6];
    svg.append(draw("polygon", { points: [...upper, ...lower].join(" "), fill: colour, "fill-opacity": 0.14 }),
      draw("polyline", { points: s.pass.map((p, i) => `${x(p).toFixed(1)},${y(s.mean[i]).toFixed(1)}`).join(" "), fill: "none", stroke: colour, "stroke-width": 1.8 }));
  });
  return svg;
}

// 1, 2 or 5 times a power of ten, not below the value.
function roundStep(value) {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-9)));
  return [1, 2, 5, 10].find((factor) => factor * power >= value * 0.999) * power;
}

function atlas() {
  if (!shown || !shown.atlas.length) return;
  const cards = shown.atlas.map((card, number) => {
    const part = make("article.card", {}, make("header", {}, make("i.swatch", { style: `background:${shown.colours[number]}` }), make("h3", {}, `Position ${number}`), make("span.share", {}, `${percent(card.share)} of nodes`)));
    if (!card.exemplars.length) { part.append(make("p.note", {}, "No node of these graphs is aligned with it.")); return part; }
    const pictures = card.exemplars.map((e) => make("button", { type: "button", title: `graph ${shown.graphs[e.g].id}: ${e.alike} nodes look the same`, onclick: () => openGraph(shown.graphs[e.g], [shown.graphs[e.g]]) },
      drawGraph(shown.graphs[e.g], "positions", { focus: e.n, near: e.near, label: `typical node of position ${number}, in graph ${shown.graphs[e.g].id}` })));
    part.append(make("p.gist", {}, `in ${percent(card.graphs)} of graphs`));
    part.append(make("h4", {}, "Typical nodes"), make("div.exemplars", {}, ...pictures));
    part.append(make("h4", {}, "Over-represented"));
    if (card.marks.length) part.append(make("div.bars", {}, ...card.marks.flatMap((m) => [make("span", {}, m.what),
      make("div.bar", { title: `${percent(m.in)} here, ${percent(m.out)} elsewhere; Cohen's h ${m.h.toFixed(2)}, p ${chance(m.p)}` }, make("b", { style: `left:0;width:${100 * m.in}%;background:${shown.colours[number]}` }), make("s", { style: `left:calc(${100 * m.out}% - 1px)` })),
      make("span.value", {}, percent(m.in))])));
    else part.append(make("p.note", {}, "Nothing that the other positions do not have as well."));
    const most = Math.max(...shown.atlas.flatMap((c) => c.scores.map(Math.abs)), 1e-9);
    part.append(make("h4", {}, "Adds to the score of"), make("div.bars", {}, ...card.scores.flatMap((score, c) => [make("span", {}, className(c)), signed(score / most), make("span.value", {}, score.toPrecision(2))])));
    return part;
  });
  section("positions", "What the positions mean", "Every node is aligned with the closest of K prototypes that the model learnt; nobody told it what they are. Bars show the share of nodes with a property, ticks its share among all other nodes.", make("div.cards", {}, ...cards));
}
function signed(value) {
  const width = 50 * Math.min(Math.abs(value), 1);
  const style = `left:${value < 0 ? 50 - width : 50}%;width:${width}%;background:var(${value < 0 ? "--against" : "--for"})`;
  return make("div.bar", {}, make("b", { style }), make("s", { style: "left:calc(50% - 1px);opacity:.35" }));
}
