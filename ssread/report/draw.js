const data = JSON.parse(document.getElementById("data").textContent);
const shown = data.explained;
const SVG = "http://www.w3.org/2000/svg";

// Elements from names, attributes and children; every text goes in as text, never as HTML.
function make(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  return dress(element, attributes, children);
}
function draw(name, attributes = {}, ...children) {
  return dress(document.createElementNS(SVG, name), attributes, children);
}
function dress(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}
const percent = (share, digits = 0) => `${(100 * share).toFixed(digits)} %`;
const className = (number) => (number < 0 ? "unknown" : shown.class_names[number] ?? `class ${number}`);
const best = (graph) => graph.p.indexOf(Math.max(...graph.p));
const nodes = (graph) => graph.xy.length / 2;

// One graph. view: "positions", or the number of a class whose activation is shown.
function drawGraph(graph, view, { focus = -1, near = null, titles = false, label = "" } = {}) {
  const count = nodes(graph);
  const xs = graph.xy.filter((_, place) => place % 2 === 0), ys = graph.xy.filter((_, place) => place % 2 === 1);
  const crop = near && near.length ? near : null;
  const inside = (values) => (crop ? crop.map((node) => values[node]) : values);
  const least = (values) => inside(values).reduce((a, b) => Math.min(a, b), Infinity);
  const most = (values) => inside(values).reduce((a, b) => Math.max(a, b), -Infinity);
  const pad = crop ? 90 : 70;
  const box = count ? [least(xs) - pad, least(ys) - pad, most(xs) - least(xs) + 2 * pad, most(ys) - least(ys) + 2 * pad] : [0, 0, 100, 100];
  const svg = draw("svg", { viewBox: box.join(" "), class: graph.mol ? "graph" : "graph plain", role: "img", "aria-label": label || `graph ${graph.id}` });
  const discs = draw("g"), lines = draw("g"), texts = draw("g");
  const close = crop ? new Set(crop) : null;
  for (let place = 0; place < graph.b.length; place += 3) {
    const [i, j, order] = graph.b.slice(place, place + 3);
    const far = close && !(close.has(i) && close.has(j));
    const dx = xs[j] - xs[i], dy = ys[j] - ys[i], length = Math.hypot(dx, dy) || 1;
    for (const side of order === 2 ? [-1, 1] : order === 3 ? [-2, 0, 2] : [0]) {
      const ox = (-dy / length) * 8 * side, oy = (dx / length) * 8 * side;
      lines.append(draw("line", { x1: xs[i] + ox, y1: ys[i] + oy, x2: xs[j] + ox, y2: ys[j] + oy, class: far ? "far" : null }));
    }
  }
  for (let node = 0; node < count; node++) {
    const far = close && !close.has(node);
    const [colour, opacity, radius] = look(graph, node, view);
    const disc = draw("circle", { cx: xs[node], cy: ys[node], r: radius, fill: colour, "fill-opacity": opacity, class: far ? "far" : null });
    if (titles) disc.append(draw("title", {}, nodeTitle(graph, node)));
    discs.append(disc);
    if (node === focus) texts.append(draw("circle", { cx: xs[node], cy: ys[node], r: 50, class: "focus" }));
    if (graph.l[node]) texts.append(draw("text", { x: xs[node], y: ys[node], class: far ? "far" : null }, graph.l[node]));
  }
  texts.setAttribute("pointer-events", "none");
  if (graph.mol) { lines.setAttribute("pointer-events", "none"); svg.append(discs, lines, texts); }
  else svg.append(lines, discs, texts);
  return svg;
}
function look(graph, node, view) {
  const size = graph.mol ? 40 : 30;
  if (view === "positions") {
    if (!graph.k || graph.k[node] < 0) return ["var(--faint)", 0.5, size * 0.7];
    return [shown.colours[graph.k[node]], graph.mol ? 0.75 : 1, size];
  }
  const value = graph.a[view][node] / 100;
  return [value >= 0 ? "var(--for)" : "var(--against)", 0.12 + 0.88 * Math.abs(value), size * (0.55 + 0.55 * Math.abs(value))];
}
function nodeTitle(graph, node) {
  const lines = [`node ${node}${graph.l[node] ? ` (${graph.l[node]})` : ""}`];
  if (graph.k) lines.push(graph.k[node] < 0 ? "dropped by pooling" : `position ${graph.k[node]}, cost ${(graph.c[node] / 1000).toFixed(3)}`);
  graph.a.forEach((values, number) => lines.push(`activation, ${className(number)}: ${((values[node] / 100) * graph.most).toPrecision(3)}`));
  return lines.join("\n");
}
const firstView = () => (shown.colours.length ? "positions" : 0);
function positionKey() {
  const key = make("ul.key");
  shown.colours.forEach((colour, number) => key.append(make("li", {}, make("i", { style: `background:${colour}` }), `position ${number}`)));
  return key;
}
