// Draws one graph from its record (coordinates, bonds, labels, molecule): a molecule as a chemist would, any other graph
// as discs and lines. Needs elements.js and graph.css, and nothing else of the page.
const numNodes = (graph) => graph.coordinates.length / 2;
const SINGLE = 1, DOUBLE = 2, TRIPLE = 3, DOUBLE_LEFT = 4, DOUBLE_RIGHT = 5, WEDGED = 6, HASHED = 7;

// paint(node): its { colour, strength } with a strength from 0 to 1, or null. focus: a node to circle; neighbourhood:
// nodes to zoom in on; tooltip(node) and number(node): texts; label: what a screen reader says.
function drawGraph(graph, paint, options = {}) {
  const { focus = -1, neighbourhood = [], tooltip = null, number = null, label = "" } = options;
  const xs = graph.coordinates.filter((_, i) => i % 2 === 0), ys = graph.coordinates.filter((_, i) => i % 2 === 1);
  const near = neighbourhood.length ? new Set(neighbourhood) : null;
  const fade = (...nodes) => (near && !nodes.every((node) => near.has(node)) ? "far" : null);
  const colours = Array.from(xs, (_, node) => paint(node));
  const picture = svg("svg", {
    viewBox: viewBox(xs, ys, neighbourhood, number ? 120 : 75).join(" "), class: graph.molecule ? "graph" : "graph plain",
    role: "img", "aria-label": label || `graph ${graph.id}`,
  });
  const halos = svg("g"), lines = svg("g"), discs = svg("g"), texts = svg("g", { "pointer-events": "none" });
  for (let bond = 0; bond < graph.bonds.length; bond += 3) {
    const [i, j, kind] = graph.bonds.slice(bond, bond + 3);
    const ends = { i: [xs[i], ys[i]], j: [xs[j], ys[j]] };
    if (graph.molecule) halos.append(...bondHalo(ends, colours[i], colours[j], fade(i, j)));
    const marks = graph.molecule ? bondMarks(ends, kind, graph.labels[i], graph.labels[j]) : [line(ends.i, ends.j)];
    for (const mark of marks) {
      if (fade(i, j)) mark.classList.add("far");
      lines.append(mark);
    }
  }
  const radius = graph.molecule ? 34 : 30;
  for (let node = 0; node < xs.length; node++) {
    const centre = { cx: xs[node], cy: ys[node] };
    const disc = svg("circle", { ...centre, ...discStyle(colours[node], radius, graph.molecule), class: fade(node) });
    if (tooltip) disc.append(svg("title", {}, tooltip(node)));
    discs.append(disc);
    if (node === focus) texts.append(svg("circle", { ...centre, r: 52, class: "focus" }));
    if (graph.labels[node]) texts.append(...nodeLabel(graph, xs[node], ys[node], graph.labels[node], fade(node)));
    const text = number ? number(node) : "";
    if (text) texts.append(numberText(graph, node, xs, ys, text));
  }
  picture.append(...(graph.molecule ? [halos, discs, lines, texts] : [lines, discs, texts]));
  if (graph.molecule) lines.setAttribute("pointer-events", "none");
  return picture;
}
function viewBox(xs, ys, neighbourhood, margin) {
  if (!xs.length) return [0, 0, 100, 100];
  const zoomed = neighbourhood.length > 0, pad = zoomed ? 90 : margin;
  const inside = (values) => (zoomed ? neighbourhood.map((node) => values[node]) : values);
  const [left, top] = [xs, ys].map((values) => inside(values).reduce((a, b) => Math.min(a, b)));
  const [right, bottom] = [xs, ys].map((values) => inside(values).reduce((a, b) => Math.max(a, b)));
  const least = 225, width = Math.max(right - left + 2 * pad, least), height = Math.max(bottom - top + 2 * pad, least);
  return [(left + right - width) / 2, (top + bottom - height) / 2, width, height];
}
// Opaque tints, so that halos of neighbours join without darker overlaps.
const tint = ({ colour, strength }) => `color-mix(in srgb, ${colour} ${Math.round(100 * strength)}%, var(--raised))`;
function discStyle(painted, radius, molecule) {
  if (!painted) return { fill: molecule ? "transparent" : "var(--rule)", r: molecule ? radius : radius * 0.7 };
  return { style: `fill:${tint(painted)}`, r: molecule ? radius : radius * (painted.size ?? 1) };
}
function bondHalo({ i, j }, first, second, faded) {
  const middle = [(i[0] + j[0]) / 2, (i[1] + j[1]) / 2];
  return [[i, first], [j, second]].filter(([, painted]) => painted).map(([end, painted]) => svg("line", {
    x1: end[0], y1: end[1], x2: middle[0], y2: middle[1], style: `stroke:${tint(painted)}`,
    class: faded ? "halo far" : "halo" }));
}
const line = (from, to, name = null) => svg("line", { x1: from[0], y1: from[1], x2: to[0], y2: to[1], class: name });
function bondMarks({ i, j }, kind, labelI, labelJ) {
  const dx = j[0] - i[0], dy = j[1] - i[1], length = Math.hypot(dx, dy) || 1;
  const along = [dx / length, dy / length], left = [along[1], -along[0]]; // y points downwards
  const at = (end, step, aside) => [end[0] + along[0] * step + left[0] * aside, end[1] + along[1] * step + left[1] * aside];
  const from = labelI ? 25 : 0, to = labelJ ? -25 : 0;
  const parallel = (aside, inset = 0) => line(at(i, Math.max(from, inset), aside), at(j, Math.min(to, -inset), aside));
  if (kind === DOUBLE) return [parallel(9), parallel(-9)];
  if (kind === TRIPLE) return [parallel(0), parallel(15), parallel(-15)];
  if (kind === DOUBLE_LEFT) return [parallel(0), parallel(17, 13)];
  if (kind === DOUBLE_RIGHT) return [parallel(0), parallel(-17, 13)];
  if (kind === WEDGED) {
    const points = [at(i, from, 0), at(j, to, 11), at(j, to, -11)].map((point) => point.join(",")).join(" ");
    return [svg("polygon", { points, class: "wedge" })];
  }
  if (kind === HASHED) {
    return [0.15, 0.32, 0.49, 0.66, 0.83, 1].map((share) => {
      const step = from + share * (length + to - from), half = 2 + 10 * share;
      return line(at(i, step, half), at(i, step, -half), "thin");
    });
  }
  return [parallel(0)];
}
// "H₂N", "OH" or "N⁺": the element stands on the atom, hydrogens and charge beside it.
function nodeLabel(graph, x, y, label, faded) {
  if (!graph.molecule) return [svg("text", { x, y, class: faded }, label)];
  const parts = label.match(/^(H[₀-₉]*(?=[A-Z]))?([A-Z][a-z]?)(H?[₀-₉]*)(.*)$/u) ?? [null, "", label, "", ""];
  const [, before, symbol, after, charge] = parts;
  const half = symbol.length > 1 ? 21 : 15, classes = `el-${symbol}${faded ? " far" : ""}`;
  const text = (dx, dy, name, content) => (content ? svg("text", { x: x + dx, y: y + dy, class: `${classes} ${name}` }, content) : null);
  return [text(0, 0, "symbol", symbol), text(-half, 0, "before", before), text(half, 0, "after", after),
    text(half + (after ? 17 * after.length + 10 : 0) - 1, -15, "charge", charge)].filter(Boolean);
}
// Beside a node, away from its neighbours.
function numberText(graph, node, xs, ys, text) {
  let dx = 0, dy = 0;
  for (let bond = 0; bond < graph.bonds.length; bond += 3) {
    const [i, j] = graph.bonds.slice(bond, bond + 2);
    if (i !== node && j !== node) continue;
    const other = i === node ? j : i;
    dx -= xs[other] - xs[node];
    dy -= ys[other] - ys[node];
  }
  const length = Math.hypot(dx, dy), [ux, uy] = length > 20 ? [dx / length, dy / length] : [0, -1];
  return svg("text", { x: xs[node] + 58 * ux, y: ys[node] + 46 * uy, class: "number" }, text);
}
